import { labelOf } from '../domain/check-label.ts'
import type { Instant } from '../domain/instant.ts'
import { Refusal } from '../domain/refusal.ts'
import type { Task } from '../domain/task.ts'
import { visible } from '../domain/visible.ts'
import type { PersonsFields, WaitingDispute } from '../domain/wire.ts'
import { insist, preparedChanges } from '../door/door.ts'
import { LOCAL_TENANT } from '../store/store.ts'
import { dropKeys, INTERRUPT, pressedKey } from './keys.ts'
import type { Left, ReviewerOptions } from './review-one.ts'
import { askedText } from './review-screen.ts'
import { ask } from './terminal.ts'
import { columnsOfTerminal, fitted, type Paint, wrapped } from './terminal-text.ts'

/** Shows a dispute until the person answers or leaves it. */
export async function answerDispute(dispute: WaitingDispute, title: string, options: ReviewerOptions): Promise<Left> {
  const { door, print, paint, terminal, urlOf } = options
  const ref = { tenant: LOCAL_TENANT, conversation: dispute.session_id }
  const task = (await door.read(ref)).tasks.get(dispute.task_id)
  if (!task) return 'over'
  const screen = { dispute, task, title, url: urlOf(dispute.session_id), now: await door.now() }
  for (const line of ['', ...disputeText(screen, columnsOfTerminal(terminal.output), paint), '']) print(line)
  await dropKeys(terminal.input)
  for (const line of keysText(task, paint)) print(line)
  const key = await pressedKey('icdxsq', terminal, NEVER)
  if (key === INTERRUPT) return 'interrupted'
  if (key === 's') return 'skipped'
  if (key === 'q') return 'quit'
  const asks = ASKS[key]
  const said = asks === undefined ? '' : await asked(asks, options)
  if (said === undefined) return 'interrupted'
  try {
    if (key === 'i') await insist(door, ref, task.id, said === '' ? undefined : said)
    else
      await door.transact(ref, transaction => {
        const change = preparedChanges(transaction.state, door, task.id, fieldsOf(key, said), task.version)
        transaction.mustRun({ type: 'edit_tasks', by: 'person', change })
      })
    print(`\n${DONE[key]}`)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    print(`\nNothing was changed: ${error.message}`)
  }
  return 'over'
}

const ASKS: Readonly<Record<string, string>> = {
  i: 'A comment for the agent (Enter: none): ',
  c: 'Its new check, one command (Enter: drop its checks): ',
}

const DONE: Readonly<Record<string, string>> = {
  i: 'Insisted: the task is open again. The agent goes on as soon as it can, or hears of it with its next call.',
  c: 'The check was changed, and the task is open again.',
  d: 'Settled as done.',
  x: 'Cancelled.',
}

function fieldsOf(key: string, said: string): PersonsFields {
  if (key === 'c') return said === '' ? { checks: [] } : { check: said }
  return { status: key === 'd' ? 'completed' : 'cancelled' }
}

/** Undefined after Ctrl-C. */
async function asked(question: string, { terminal }: ReviewerOptions): Promise<string | undefined> {
  try {
    return await ask(question, terminal)
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError') return undefined
    throw error
  }
}

interface Screen {
  readonly dispute: WaitingDispute
  readonly task: Task
  readonly title: string
  readonly url: string | null
  readonly now: Instant
}

function disputeText({ dispute, task, title, url, now }: Screen, columns: number, paint: Paint): string[] {
  const { by, reason, at, count } = dispute
  const indented = (text: string): string[] => wrapped(visible(text), columns - 4).map(line => `    ${line}`)
  const who = `${by ?? 'The agent'} disputes step ${task.number}${count > 1 ? ' again' : ''}, ${askedText(at, now)}`
  return [
    paint.bold(fitted(title, columns)),
    ...(url === null ? [] : [paint.dim(`Page: ${url}`)]),
    '',
    fitted(who, columns),
    ...indented(task.title).map(paint.bold),
    ...(task.criteria === '' ? [] : indented(`Done when: ${task.criteria}`)),
    ...(task.checks ?? []).flatMap(check => indented(`Check: ${labelOf(check)}`)),
    '',
    ...indented(reason),
  ]
}

function keysText({ checks = [] }: Task, paint: Paint): string[] {
  const key = (name: string, what: string): string => `  ${paint.bold(name)}  ${what}`
  return [
    key('c', `change the check${checks.length > 0 ? ', or drop it' : ''}`),
    key('d', 'settle it as done'),
    key('x', 'cancel it'),
    key('i', 'insist: the agent does it as asked'),
    `${key('s', 'skip')}${key('q', 'quit')}    ${paint.dim('(it goes on waiting)')}`,
  ]
}

const NEVER = new AbortController().signal
