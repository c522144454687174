/* SPDX-License-Identifier: MIT
 * The report: each file by itself, then one table of all. A page begins with a table of all
 * firmware by cases. Tags are left out of the text, whose columns are the blanks. */
#include "tools/cmd/render/doc.h"
#include "tools/explain/audit/audit.h"

static const char layout[] =
    "{.page?<main>\n<h1>cpscope audit</h1>\n"
    "<table id=\"matrix\"><tr><th>firmware</th><th>version</th>{cases*<th>{name}</th>}</tr>\n"
    "{files*{kind=firmware?<tr><th><a href=\"#f{#}\">{name}</a></th>"
    "<td><span>0x{id:03x} 0x{version:03x}</span></td>"
    "{flaws*<td class=\"{.style}\"><span>{verdict}</span></td>}</tr>\n}}</table>\n"
    "<table><tr><th>case</th><th>a firmware has the flaw if</th><th>known as</th>"
    "<th>evidence</th></tr>\n"
    "{cases*<tr><th>{name}</th><td>{flaw}</td><td>{known_as}</td><td>{evidence}</td></tr>\n}"
    "</table>\n}"
    "{files*{.title?<section id=\"f{#}\"><h3>{name:e}: {.title}</h3>\n<table>"
    "{kind=firmware?  <tr><th>id</th>         <td>0x{id:03x} ({chip}{chip!unknown}), "
    "version 0x{version:03x}, {generation}</td></tr>\n"
    "  <tr><th>sha256</th>     <td>{sha256}</td></tr>\n"
    "  <tr><th>handlers</th>   <td>{processors/, /{name} {handlers}}</td></tr>\n"
    "{assumed?  <tr><th>assumed</th>    <td>{assumed}</td></tr>\n}}"
    "{.for?  <tr><th>for</th>        <td>{.for}</td></tr>\n}"
    "{kind=dump?{version?  <tr><th>firmware</th>   <td>version 0x{version:03x} ran</td></tr>\n}"
    "{recovered>  <tr><th>words</th>      "
    "<td>{hardware} of the dump, {donor} of the nearest, {unknown} unknown</td></tr>\n"
    "  <tr><th>handlers</th>   "
    "<td>{whole} of {handlers} are in the dump as a whole</td></tr>\n}"
    "{why?  <tr><th>undecided</th>  <td>{why:e}</td></tr>\n}}"
    "{nearest>  <tr><th>nearest</th>    <td>{name:e}: {same_contents?the same}"
    "{same_contents!{equal} of {of} {kind=dump?lines of the instruction cache are there}"
    "{kind=firmware?handlers do the same}}</td></tr>\n}"
    "{kind=capture?  <tr><th>packets</th>    <td>{packets/ /{@} {.}}</td></tr>\n}"
    "</table>"
    "{.flaws?<table>  <tr><th>flaws</th></tr>\n"
    "{flaws*    <tr><th>{case:-30e}</th> <td class=\"{.style}\">{verdict:-15}</td> "
    "<td>{why:e}</td></tr>\n}</table>}"
    "{protect?<table>  <tr><th>CP_PROTECT, by level</th>     {.levels*<th>{.:-10}</th> }</tr>\n"
    "{protect*    <tr><th>{packet:-22}</th> "
#define LEVEL(id, word, ...) "<td class=\"{." word "}\">{" word ":-10}</td> "
#include "tools/explain/audit/writer.def"
    "<td>{why:e}</td></tr>\n}</table>}"
    "</section>\n}}"
    "<table id=\"files\"><tr><th>{.file:-*}</th> <th>kind</th>       <th>id</th>      "
    "<th>version</th> <th>generation</th> <th>flaws</th> <th>undecided</th> "
    "<th>nearest</th></tr>\n"
    "{files*<tr><th>{name:-*e}</th> <td>{kind:-10}</td> "
    "{.flaws?{kind=dump?<td>gpu {gpu_id:03}</td> }{kind=firmware?<td>0x{id:03x}</td>   }"
    "<td>0x{version:03x}</td>   {kind=dump?<td>a6xx</td>    "
    "}{kind=firmware?<td>{generation:-7}</td> }"
    "<td>{.flaws:-7}</td> <td>{.undecided:-9}</td> <td>{nearest>{name:e}}{nearest!-}</td>}"
    "{.flaws!{why?<td>{why:e}</td>}{why!<td>{.for}</td>}}</tr>\n}</table>"
    "{.page?<p>}{.count} file{.count~s}: {flaws} flaw{flaws~s}, {undecided} question{undecided~s} "
    "undecided, {errors} unreadable, {skipped} skipped{.page?.</p></main>}\n";

void audit_put(struct json_object *root, bool page, struct cps_buf *out)
{
    doc_put(root, ".page?=%d", page);
    if (page)
        doc_page(root, "cpscope audit", layout, out);
    else
        doc_text(root, layout, out);
}
