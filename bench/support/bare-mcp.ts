import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import * as z from 'zod'

/**
 * The baseline: a todo server written in an hour on the same SDK and node:sqlite. It has no reviews, history or rules,
 * but its writes are transactions, and `--sync FULL` flushes each one, as ours does.
 */
const { values } = parseArgs({
  options: {
    data: { type: 'string', default: '.bare' },
    session: { type: 'string', default: randomUUID() },
    sync: { type: 'string', default: 'FULL' },
  },
})
const { session } = values

mkdirSync(values.data, { recursive: true })
const db = new DatabaseSync(join(values.data, 'bare.db'), { timeout: 5_000 })
db.exec(`
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = ${values.sync === 'NORMAL' ? 'NORMAL' : 'FULL'};
  CREATE TABLE IF NOT EXISTS tasks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL,
    title TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'todo',
    outcome TEXT,
    created_at TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS tasks_of_session ON tasks (session, status, id);
`)
const insert = db.prepare('INSERT INTO tasks (session, title, created_at) VALUES (?, ?, ?) RETURNING id')
const settle = db.prepare('UPDATE tasks SET status = ?, outcome = ? WHERE session = ? AND id = ?')
const first = db.prepare("SELECT id, title FROM tasks WHERE session = ? AND status = 'todo' ORDER BY id LIMIT 1")
const open = db.prepare("SELECT count(*) AS count FROM tasks WHERE session = ? AND status = 'todo'")
const list = db.prepare('SELECT id, title, status, outcome FROM tasks WHERE session = ? ORDER BY id')

const onward = { next: z.string().nullable(), remaining: z.int() }
const task = z.object({ id: z.int(), title: z.string(), status: z.string(), outcome: z.string().nullable() })

serveStdio(() => {
  const server = new McpServer({ name: 'bare', version: '1.0.0' })
  server.registerTool(
    'plan',
    {
      description: 'Propose all steps of the work at once.',
      inputSchema: z.object({ tasks: z.array(z.object({ title: z.string().min(1).max(400) })).min(1) }),
      outputSchema: z.object({ ids: z.array(z.int()), ...onward }),
    },
    ({ tasks }) => {
      const at = new Date().toISOString()
      return answer(transact(() => ({ ids: tasks.map(({ title }) => Number(insert.get(session, title, at)?.['id'])) })))
    },
  )
  server.registerTool(
    'update',
    {
      description: 'Settle a task with its outcome.',
      inputSchema: z.object({
        id: z.int(),
        outcome: z.string().optional(),
        status: z.enum(['done', 'todo']).optional(),
      }),
      outputSchema: z.object(onward),
    },
    ({ id, outcome, status = 'done' }) => {
      const { changes } = transact(() => settle.run(status, outcome ?? null, session, id))
      return changes === 0 ? refusal(`No task ${id}.`) : answer({})
    },
  )
  server.registerTool(
    'tasks',
    {
      description: 'List the tasks.',
      inputSchema: z.object({}),
      outputSchema: z.object({ tasks: z.array(task), ...onward }),
      annotations: { readOnlyHint: true },
    },
    () => answer({ tasks: list.all(session) }),
  )
  return server
})

/** Immediate, so that two servers queue here instead of failing when they upgrade. */
function transact<T>(work: () => T): T {
  db.exec('BEGIN IMMEDIATE')
  try {
    const done = work()
    db.exec('COMMIT')
    return done
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

function answer(about: Record<string, unknown>) {
  const next = first.get(session)
  const structuredContent = {
    ...about,
    next: next ? `${Number(next['id'])} ${String(next['title'])}` : null,
    remaining: Number(open.get(session)?.['count']),
  }
  return { content: [{ type: 'text' as const, text: JSON.stringify(structuredContent) }], structuredContent }
}

function refusal(why: string) {
  return { content: [{ type: 'text' as const, text: why }], isError: true }
}
