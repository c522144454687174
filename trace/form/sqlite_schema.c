/* SPDX-License-Identifier: MIT
 * The tables of a trace as a database. Their texts stay in the file: `.schema` shows them with
 * their comments. */
#include "trace/form/sqlite.h"

const char cps_sqlite_tables_[] =
    "CREATE TABLE head (key TEXT, value TEXT); -- lines of the trace's head\n"
    "CREATE TABLE submissions (\n"
    "  id INTEGER PRIMARY KEY, -- as SUBMIT counts them\n"
    "  event INTEGER,          -- number of the event in the trace, from 0: everything is in this "
    "order\n"
    "  iova INTEGER, dwords INTEGER);\n"
    "CREATE TABLE packets (\n"
    "  id INTEGER PRIMARY KEY, -- in the order of the trace, from 1\n"
    "  event INTEGER, submission INTEGER, processor TEXT, level TEXT, iova INTEGER, header "
    "INTEGER,\n"
    "  type INTEGER,           -- 4, 7, or NULL: it is no header\n"
    "  opcode INTEGER,         -- of type 7\n"
    "  reg INTEGER,            -- of type 4: the first register\n"
    "  count INTEGER,          -- words behind the header\n"
    "  name TEXT,              -- of the opcode or of the register\n"
    "  pc INTEGER,\n"
    "  writes INTEGER, reads INTEGER, memory INTEGER, -- events of those tables\n"
    "  instructions INTEGER);  -- STEP events; NULL: they are not recorded\n"
    "CREATE TABLE words (\n"
    "  packet INTEGER, number INTEGER, value INTEGER,\n"
    "  text TEXT,              -- fields by name, as the text form shows them; NULL: none is "
    "known\n"
    "  PRIMARY KEY (packet, number)) WITHOUT ROWID;\n"
    "CREATE TABLE writes (\n"
    "  event INTEGER PRIMARY KEY, packet INTEGER, processor TEXT,\n"
    "  space TEXT,             -- gpu, pipe, ctrl, sqe, method; prot: a write that was forbidden\n"
    "  -- copy: bits of the address above the register, which name the bank or the pipe, or NULL\n"
    "  reg INTEGER, copy INTEGER, value INTEGER, path TEXT, pc INTEGER);\n"
    "CREATE TABLE reads (\n"
    "  event INTEGER PRIMARY KEY, packet INTEGER, processor TEXT,\n"
    "  space TEXT, reg INTEGER, copy INTEGER, value INTEGER, pc INTEGER);\n"
    "CREATE TABLE memory (\n"
    "  event INTEGER PRIMARY KEY, packet INTEGER, processor TEXT,\n"
    "  access TEXT,            -- read or write\n"
    "  iova INTEGER, value INTEGER, via TEXT, pc INTEGER);\n"
    "CREATE TABLE assumptions (\n"
    "  event INTEGER PRIMARY KEY, packet INTEGER, processor TEXT,\n"
    "  kind TEXT,              -- assume or unmodelled\n"
    "  what TEXT, at INTEGER, value INTEGER, pc INTEGER);\n"
    "CREATE TABLE others (      -- interrupts, ends of scripts, the end\n"
    "  event INTEGER PRIMARY KEY, packet INTEGER, processor TEXT,\n"
    "  kind TEXT, word TEXT, addr INTEGER, value INTEGER, pc INTEGER);\n"
    "CREATE TABLE draws (       -- all that starts work, as cpscope state counts it\n"
    "  packet INTEGER PRIMARY KEY, event INTEGER, submission INTEGER, processor TEXT, level TEXT,\n"
    "  name TEXT,              -- of the packet\n"
    "  -- number: of the processor's, from 0; NULL behind an event packet without recorded words\n"
    "  kind TEXT, number INTEGER, -- draw, dispatch, blit or resolve\n"
    "  last INTEGER,           -- the last packet of its draw state, or itself\n"
    "  before INTEGER);        -- last of the one before on the same processor, or NULL\n"
    "CREATE TABLE names (processor TEXT, space TEXT, reg INTEGER, name TEXT,\n"
    "  PRIMARY KEY (processor, space, reg)) WITHOUT ROWID;\n"
    "CREATE TABLE fields (      -- of each value that a register has had\n"
    "  processor TEXT, space TEXT, reg INTEGER, value INTEGER, field TEXT,\n"
    "  low INTEGER, high INTEGER, bits INTEGER, text TEXT);\n"
    "CREATE TABLE buffers (     -- of the capture; none where the trace was not made of one\n"
    "  id INTEGER PRIMARY KEY,  -- in the order of the capture, from 0\n"
    "  number INTEGER,          -- of those that are valid together, as other commands say it\n"
    "  kind TEXT,               -- buf, ring; ib1: a submission begins in it\n"
    "  name TEXT,               -- the capture's, or NULL\n"
    "  iova INTEGER, size INTEGER, held INTEGER, -- bytes; of contents that the capture has\n"
    "  first INTEGER, last INTEGER); -- submissions that it is valid in; last NULL: to the end\n"
    "CREATE TABLE addresses (\n"
    "  event INTEGER,           -- of the access, of the packet, or of the write of the upper "
    "half\n"
    "  packet INTEGER, processor TEXT,\n"
    "  source TEXT,             -- memory, word (of the packet), register\n"
    "  number INTEGER,          -- of the word, or of the register's lower half\n"
    "  address INTEGER,\n"
    "  buffer INTEGER);         -- the newest one that has it then; NULL: none\n";

const char *const cps_sqlite_inserts_[DB_INSERTS] = {
    [DB_HEAD] = "INSERT INTO head VALUES (?, ?)",
    [DB_SUBMISSION] = "INSERT OR REPLACE INTO submissions VALUES (?, ?, ?, ?)",
    [DB_PACKET] = "INSERT INTO packets VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [DB_WORD] = "INSERT OR REPLACE INTO words VALUES (?, ?, ?, ?)",
    [DB_WRITE] = "INSERT INTO writes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [DB_READ] = "INSERT INTO reads VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    [DB_MEMORY] = "INSERT INTO memory VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    [DB_ASSUMPTION] = "INSERT INTO assumptions VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    [DB_OTHER] = "INSERT INTO others VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    [DB_NAME] = "INSERT OR REPLACE INTO names VALUES (?, ?, ?, ?)",
    [DB_DRAW] = "INSERT INTO draws VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [DB_FIELD] = "INSERT INTO fields VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [DB_BUFFER] = "INSERT INTO buffers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [DB_ADDRESS] = "INSERT INTO addresses VALUES (?, ?, NULL, 'word', ?, ?, NULL)",
};

#define REGISTERS(columns)                                       \
    "SELECT DISTINCT processor, space, " columns " FROM writes " \
    "UNION SELECT DISTINCT processor, space, " columns " FROM reads ORDER BY "

const char cps_sqlite_registers_[] = REGISTERS("reg") "1, 2, 3";
const char cps_sqlite_values_[] = REGISTERS("reg, value") "1, 2, 3, 4";

/* A register of 64 bits is two writes, the upper half next. Names are looked up once a register. */
const char cps_sqlite_addresses_[] =
    "UPDATE addresses SET processor = (SELECT processor FROM packets WHERE id = packet);"
    "INSERT INTO addresses SELECT event, packet, processor, 'memory', NULL, iova, NULL\n"
    "  FROM memory ORDER BY event;"
    "WITH halves AS MATERIALIZED (SELECT processor, reg, address_half(processor, reg) AS half\n"
    "    FROM names WHERE space = 'gpu' AND address_half(processor, reg)),\n"
    "  pairs AS (SELECT w.packet, w.processor, w.reg, w.value, h.half,\n"
    "      lead(w.reg) OVER following AS behind, lead(w.value) OVER following AS high,\n"
    "      lead(w.event) OVER following AS upper\n"
    "    FROM writes w CROSS JOIN halves h USING (processor, reg) WHERE w.space = 'gpu'\n"
    "    WINDOW following AS (PARTITION BY w.processor, w.copy ORDER BY w.event))\n"
    "  INSERT INTO addresses SELECT upper, packet, processor, 'register', reg,\n"
    "      high << 32 | value, NULL FROM pairs WHERE half = 1 AND behind = reg + 1 ORDER BY upper;"
    "UPDATE addresses SET buffer = buffer_at(\n"
    "  (SELECT submission FROM packets WHERE id = packet), address);";

const char cps_sqlite_rest_[] =
    "CREATE TABLE handlers (    -- what packets of one sort did, by processor\n"
    "  processor TEXT, type INTEGER, opcode INTEGER, name TEXT, packets INTEGER, writes INTEGER,\n"
    "  reads INTEGER, memory INTEGER, instructions INTEGER, least INTEGER, most INTEGER);\n"
    "INSERT INTO handlers SELECT processor, type, opcode, CASE type WHEN 4 THEN 'type4' ELSE name "
    "END,\n"
    "    count(*), sum(writes), sum(reads), sum(memory), sum(instructions), min(instructions),\n"
    "    max(instructions) FROM packets GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4;\n"
    "CREATE INDEX packets_by_name ON packets (name);\n"
    "CREATE INDEX packets_by_submission ON packets (submission);\n"
    "CREATE INDEX writes_by_register ON writes (reg, space);\n"
    "CREATE INDEX writes_by_packet ON writes (packet);\n"
    "CREATE INDEX reads_by_packet ON reads (packet);\n"
    "CREATE INDEX memory_by_iova ON memory (iova);\n"
    "CREATE INDEX memory_by_packet ON memory (packet);\n"
    "CREATE INDEX addresses_by_buffer ON addresses (buffer);\n"
    "CREATE INDEX addresses_by_packet ON addresses (packet);\n"
    "CREATE INDEX fields_by_value ON fields (space, reg, value, processor);\n"
    "CREATE VIEW named_writes AS SELECT w.event, w.packet, p.submission, p.level,\n"
    "    p.name AS packet_name, w.processor, w.space, w.reg, w.copy, n.name, w.value, w.path, "
    "w.pc\n"
    "  FROM writes w LEFT JOIN names n USING (processor, space, reg)\n"
    "  LEFT JOIN packets p ON p.id = w.packet;\n"
    "CREATE VIEW named_reads AS SELECT r.event, r.packet, p.submission, p.level,\n"
    "    p.name AS packet_name, r.processor, r.space, r.reg, r.copy, n.name, r.value, r.pc\n"
    "  FROM reads r LEFT JOIN names n USING (processor, space, reg)\n"
    "  LEFT JOIN packets p ON p.id = r.packet;\n"
    "CREATE VIEW field_writes AS SELECT w.event, w.packet, w.processor, w.space, w.reg, n.name,\n"
    "    w.value, f.field, f.bits, f.text\n"
    "  FROM writes w JOIN fields f USING (processor, space, reg, value)\n"
    "  LEFT JOIN names n USING (processor, space, reg);\n"
    "CREATE VIEW named_memory AS SELECT m.event, m.packet, p.submission, p.level,\n"
    "    p.name AS packet_name, m.processor, m.access, m.iova, m.value, m.via, m.pc\n"
    "  FROM memory m LEFT JOIN packets p ON p.id = m.packet;\n"
    "CREATE VIEW named_addresses AS SELECT a.event, a.packet, p.submission, p.level,\n"
    "    p.name AS packet_name, a.processor, a.source, a.number, n.name, a.address,\n"
    "    a.buffer, b.kind AS buffer_kind, b.number AS buffer_number, b.name AS buffer_name,\n"
    "    a.address - b.iova AS offset, b.size\n"
    "  FROM addresses a LEFT JOIN packets p ON p.id = a.packet\n"
    "  LEFT JOIN buffers b ON b.id = a.buffer\n"
    "  LEFT JOIN names n ON n.processor = a.processor AND n.space = 'gpu' AND n.reg = a.number\n"
    "    AND a.source = 'register';\n";
