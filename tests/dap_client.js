// SPDX-License-Identifier: MIT
// The debug adapter driven by VS Code's own test client, from launch to disconnect.
// Usage: node dap_client.js CPSCOPE, with NODE_PATH where @vscode/debugadapter-testsupport lies.
'use strict';
const assert = require('assert');
const { DebugClient } = require('@vscode/debugadapter-testsupport');

async function session(client) {
    await client.start();
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

const client = new DebugClient('', '', 'cpscope');
// The adapter is a program of its own, not a script for node.
client.start = function () {
    return new Promise((resolve) => {
        const { spawn } = require('child_process');
        this._adapterProcess = spawn(process.argv[2], ['step', '--dap']);
        this.connect(this._adapterProcess.stdout, this._adapterProcess.stdin);
        resolve();
    });
};
session(client).then(() => {
    console.log('1..1\nok 1 - launch, breakpoints, registers, steps both ways, disconnect');
    process.exit(0);
}, (error) => {
    console.log('1..1\nnot ok 1 - VS Code\'s client\n# ' + String(error.stack).replace(/\n/g, '\n# '));
    process.exit(1);
});
