// SPDX-License-Identifier: MIT
// The debug adapter driven by VS Code's own test client, from launch to disconnect, and attached to runs.
// Usage: node dap_client.js CPSCOPE, with NODE_PATH where @vscode/debugadapter-testsupport lies.
'use strict';
const assert = require('assert');
const fs = require('fs');
const os = require('os');
const path = require('path');
const { execFileSync, spawn } = require('child_process');
const { DebugClient } = require('@vscode/debugadapter-testsupport');

const cpscope = process.argv[2];
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'cpscope'));

async function session(client) {
    const capabilities = await client.initializeRequest();
    assert.ok(capabilities.body.supportsDisassembleRequest);
    await Promise.all([
        client.waitForEvent('initialized').then(async () => {
            const answer = await client.setFunctionBreakpointsRequest(
                { breakpoints: [{ name: 'CP_SET_DRAW_STATE' }] });
            assert.ok(answer.body.breakpoints[0].verified);
            await client.setExceptionBreakpointsRequest({ filters: ['deadlock', 'bad-packet'] });
            return client.configurationDoneRequest();
        }),
        client.launchRequest({ demo: true, stopOnEntry: false }),
        client.waitForEvent('stopped'),
    ]);
    const threads = await client.threadsRequest();
    assert.deepStrictEqual(threads.body.threads, [{ id: 1, name: 'sqe' }]);
    const stack = await client.stackTraceRequest({ threadId: 1 });
    assert.strictEqual(stack.body.stackFrames[0].name, 'CP_SET_DRAW_STATE');
    const scopes = await client.scopesRequest({ frameId: stack.body.stackFrames[0].id });
    const registers = await client.variablesRequest(
        { variablesReference: scopes.body.scopes[0].variablesReference });
    assert.ok(registers.body.variables.some((v) => v.name === '$pc'));
    const before = registers.body.variables.map((v) => v.value).join();
    const move = (request) => Promise.all([client.waitForEvent('stopped'), request]);
    await move(client.stepInRequest({ threadId: 1 }));
    await move(client.nextRequest({ threadId: 1 }));
    await move(client.stepBackRequest({ threadId: 1 }));
    await move(client.reverseContinueRequest({ threadId: 1 }));
    const again = await client.variablesRequest(
        { variablesReference: scopes.body.scopes[0].variablesReference });
    assert.strictEqual(again.body.variables.map((v) => v.value).join(), before);
    const value = await client.evaluateRequest({ expression: '1 + 2 * 3' });
    assert.strictEqual(value.body.result, '0x00000007');
    await move(client.continueRequest({ threadId: 1 }));
    await client.disconnectRequest();
}

// Launches or attaches; what there is to set comes behind `initialized`. Returns where it stands.
async function begin(client, request, options, set) {
    await client.initializeRequest();
    const [, , stopped] = await Promise.all([
        client.waitForEvent('initialized').then(async () => {
            if (set) await set();
            return client.configurationDoneRequest();
        }),
        request === 'attach' ? client.attachRequest(options) : client.launchRequest(options),
        client.waitForEvent('stopped'),
    ]);
    return stopped.body;
}

const type = (client, line) => client.evaluateRequest({ expression: line, context: 'repl' });

async function top(client, thread) {
    return (await client.stackTraceRequest({ threadId: thread })).body.stackFrames[0];
}

// A movement in the console is one `continued` and one `stopped`, in this order.
async function movement(client) {
    const seen = [];
    for (const name of ['continued', 'stopped'])
        client.on(name, (event) => seen.push([name, event.body.reason]));
    assert.strictEqual((await begin(client, 'launch', { demo: true })).reason, 'entry');
    seen.length = 0;
    const [made] = await Promise.all([client.waitForEvent('breakpoint'), type(client, 'b CP_SET_DRAW_STATE')]);
    assert.strictEqual(made.body.reason, 'new');
    assert.ok(made.body.breakpoint.line && made.body.breakpoint.source.sourceReference);
    const [stopped] = await Promise.all([client.waitForEvent('stopped'), type(client, 'c')]);
    assert.deepStrictEqual(stopped.body.hitBreakpointIds, [made.body.breakpoint.id]);
    await Promise.all([client.waitForEvent('stopped'), type(client, 's 3')]);
    await client.threadsRequest();
    assert.deepStrictEqual(seen, [['continued', undefined], ['stopped', 'breakpoint'],
        ['continued', undefined], ['stopped', 'step']]);
    await client.disconnectRequest();
}

// PFP and ME in a loop each, longer than a turn.
function twoProcessors() {
    const loop = '[005ff001]\nnop\nl:\nadd $02, $02, 0x1\nadd $03, $03, $02\n' + 'nop\n'.repeat(150) +
        'jump #l\nnop\n';
    return [['pfp.fw', 'cwrite $02, [$00 + 0x0b0]\n'], ['me.fw', '']].map(([name, more]) => {
        const file = path.join(folder, name);
        fs.writeFileSync(file + '.afuc', loop + more);
        execFileSync(cpscope, ['asm', '--gen', 'a5xx', file + '.afuc', '-o', file]);
        return file;
    });
}

// Two processors stop in turn, each in a listing of its own, with a breakpoint in each.
async function processors(client) {
    await begin(client, 'launch', { fw: twoProcessors(), gen: 'a5xx' }, async () => {
        for (const [reference, line] of [[1, 4], [2, 5]]) {
            const answer = await client.setBreakpointsRequest(
                { source: { sourceReference: reference }, breakpoints: [{ line }] });
            assert.ok(answer.body.breakpoints[0].verified);
        }
    });
    const threads = new Set();
    for (let i = 0; i < 6; i++) {
        const [stopped] = await Promise.all([client.waitForEvent('stopped'), client.continueRequest({ threadId: 1 })]);
        assert.strictEqual(stopped.body.reason, 'breakpoint');
        const frame = await top(client, stopped.body.threadId);
        assert.strictEqual(frame.source.sourceReference, stopped.body.threadId);
        assert.strictEqual(frame.line, stopped.body.threadId === 1 ? 4 : 5);
        threads.add(stopped.body.threadId);
    }
    assert.strictEqual(threads.size, 2);
    await client.disconnectRequest();
}

// No source: the line that is shown is of the text that the adapter gives.
async function listing(client) {
    await begin(client, 'launch', { demo: true });
    for (let i = 0; i < 5; i++) {
        const frame = await top(client, 1);
        const text = (await client.customRequest('source', { sourceReference: frame.source.sourceReference,
            source: frame.source })).body.content;
        const place = (frame.line - 1).toString(16).padStart(4, '0');
        assert.ok(text.split('\n')[frame.line - 1].includes(' ' + place + ' '));
        await Promise.all([client.waitForEvent('stopped'), client.stepInRequest({ threadId: 1 })]);
    }
    await client.disconnectRequest();
}

// A run goes on behind the editor, and writes what it writes alone.
async function attach(client) {
    const out = ['with.cpt', 'alone.cpt'].map((name) => path.join(folder, name));
    const socket = path.join(folder, 'socket');
    execFileSync(cpscope, ['run', '--demo', '-o', out[1]], { stdio: 'ignore' });
    const run = spawn(cpscope, ['run', '--demo', '--listen=' + socket, '--listen-wait', '-o', out[0]]);
    const status = new Promise((resolve) => run.on('exit', resolve));
    await new Promise((resolve) => run.stderr.once('data', resolve));
    const stopped = await begin(client, 'attach', { socket }, () => client.setFunctionBreakpointsRequest(
        { breakpoints: [{ name: 'CP_SET_DRAW_STATE' }] }));
    assert.strictEqual(stopped.reason, 'entry');
    const [hit] = await Promise.all([client.waitForEvent('stopped'), client.continueRequest({ threadId: 1 })]);
    assert.strictEqual(hit.body.reason, 'function breakpoint');
    await Promise.all([client.waitForEvent('stopped'), client.stepBackRequest({ threadId: 1 })]);
    await client.disconnectRequest({ terminateDebuggee: false });
    assert.strictEqual(await status, 0);
    assert.deepStrictEqual(fs.readFileSync(out[0]), fs.readFileSync(out[1]));
}

const cases = [['launch, breakpoints, registers, steps both ways, disconnect', session],
    ['movement in the console', movement], ['two processors stop', processors], ['no source', listing],
    ['attach to a run', attach]];

async function all() {
    let failed = 0;
    console.log('1..' + cases.length);
    for (const [i, [name, run]] of cases.entries()) {
        const client = new DebugClient('', '', 'cpscope');
        // The adapter is a program of its own, not a script for node.
        const adapter = spawn(cpscope, ['step', '--dap']);
        client.connect(adapter.stdout, adapter.stdin);
        const error = await run(client).then(() => null, (e) => e);
        adapter.kill();
        failed += error ? 1 : 0;
        console.log((error ? 'not ok ' : 'ok ') + (i + 1) + ' - ' + name);
        if (error) console.log('# ' + String(error.stack).replace(/\n/g, '\n# '));
    }
    fs.rmSync(folder, { recursive: true });
    process.exit(failed ? 1 : 0);
}
all();
