#!/usr/bin/env node
import { parseArgs } from 'node:util'
import { listed, openTasks } from '../domain/conversation.ts'
import type { TaskStatus } from '../domain/task.ts'
import { createRunsheet } from '../runsheet.ts'
import { openMemoryStore } from '../store/memory.ts'

const USAGE = `Runsheet: the plan an AI agent works from and a person can trust.

  npm start            shows a plan going through its life, in memory
  npm test             type-checks, lints, builds and runs every test
  npm run bench        our figures beside this machine's limits
  npm run bench:tokens what each toolset costs a model

What there is today, as a library: the rules, four stores (SQLite, JSON files, PostgreSQL, memory), the
door, and six toolsets for models. README.md has an example; the server and the chat page come next.
`

const ICONS: Record<TaskStatus, string> = {
  pending: '○',
  in_progress: '◐',
  completed: '●',
  blocked: '■',
  cancelled: '×',
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  strict: false,
  options: { help: { type: 'boolean', short: 'h' } },
})
const unknown = [...positionals, ...Object.keys(values).filter(name => name !== 'help')]
if (unknown.length > 0) {
  console.error(`runsheet: I do not know ${unknown.join(', ')}. Try: runsheet --help`)
  process.exitCode = 2
} else if (values['help']) console.log(USAGE)
else await showPlan()

/** A plan from proposal to the last step: what the rules do, seen from outside. */
async function showPlan(): Promise<void> {
  const runsheet = createRunsheet({ store: openMemoryStore() })
  const ref = { tenant: 'local', conversation: 'demo' }
  const turn_id = 'turn-1'
  console.log(`${USAGE}\nA plan's life, live from the log:\n`)

  await runsheet.run(
    ref,
    { type: 'open_turn', turn_id },
    {
      type: 'edit_tasks',
      by: 'model',
      turn_id,
      create: ['Collect the figures', 'Write the report', 'Send it to everybody'].map(title => ({
        id: runsheet.newId(),
        title,
      })),
      review: { review_id: 'rev-1', tool_call_id: 'call-1' },
    },
  )
  console.log('  The model proposes three tasks. Nothing is written: a person decides.')
  const decided = runsheet.awaitReview('local', 'rev-1')
  const tasks = [
    { draft_index: 0 },
    { draft_index: 1, title: 'Write the report, two pages at most' },
    { title: 'Send it to Ann' },
  ]
  await runsheet.decideReview('local', 'rev-1', { action: 'confirm', tasks }, 'library')
  const { resolution } = await decided
  const { kept, edited, added, removed } = resolution?.changes ?? { kept: [], edited: [], added: [], removed: [] }
  console.log(
    `  The person confirms: ${kept.length} kept, ${edited.length} reworded, ${added.length} added, ${removed.length} removed.\n`,
  )

  await show()
  for (const outcome of ['Twelve figures, all from the ledger.', 'report.pdf, two pages.', 'Sent at noon.']) {
    const [task] = openTasks(await runsheet.read(ref))
    if (!task) break
    await runsheet.run(ref, {
      type: 'edit_tasks',
      by: 'model',
      turn_id,
      change: [{ task: task.number, fields: { status: 'completed', outcome } }],
    })
    await show()
  }
  await runsheet.close()

  async function show(): Promise<void> {
    const state = await runsheet.read(ref)
    for (const { status, number, title, outcome } of listed(state)) {
      console.log(`  ${ICONS[status]} ${number}. ${title}${outcome ? `  (${outcome})` : ''}`)
    }
    console.log(`  ${openTasks(state).length} remaining, seq ${state.seq}\n`)
  }
}
