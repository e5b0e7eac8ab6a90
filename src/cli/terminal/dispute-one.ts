import { labelOf } from '../../core/proof/check-text.ts'
import type { Instant } from '../../core/model/instant.ts'
import { Refusal } from '../../core/model/refusal.ts'
import type { Task } from '../../core/model/task.ts'
import { visible } from '../../core/text/plain-text.ts'
import type { PersonsFields, WaitingDispute } from '../../core/views/wire.ts'
import { insist, preparedChanges } from '../../engine/door/door.ts'
import { LOCAL_TENANT } from '../../store/store.ts'
import type { Left, ReviewerOptions } from './review-one.ts'
import { askedText } from './review-screen.ts'
import { columnsOfTerminal, fitted, wrapped, type Paint } from './terminal-text.ts'
import { ask, choose, type Choice } from './terminal.ts'

/** Shows a dispute until the person answers or leaves it. */
export async function answerDispute(dispute: WaitingDispute, title: string, options: ReviewerOptions): Promise<Left> {
  const { door, print, paint, terminal, urlOf } = options
  const ref = { tenant: LOCAL_TENANT, conversation: dispute.session_id }
  const task = (await door.read(ref)).tasks.get(dispute.task_id)
  if (!task) return 'over'
  const screen = { dispute, task, title, url: urlOf(dispute.session_id), now: await door.now() }
  for (const line of ['', ...disputeText(screen, columnsOfTerminal(terminal.output), paint), '']) print(line)
  const key = await choose('What do you say?', choicesFor(task), terminal)
  if (key === undefined) return 'interrupted'
  if (key === 'skipped' || key === 'quit') return key
  const asks = ASKS[key]
  const said = asks === undefined ? '' : await ask(asks, terminal)
  if (said === undefined) return 'interrupted'
  try {
    if (key === 'insist') await insist(door, ref, task.id, said === '' ? undefined : said)
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

type Answer = 'insist' | 'change' | 'done' | 'cancel'

const ASKS: Readonly<Partial<Record<Answer, string>>> = {
  insist: 'A comment for the agent (Enter: none): ',
  change: 'Its new check, one command (Enter: drop its checks): ',
}

const DONE: Readonly<Record<Answer, string>> = {
  insist: 'Insisted: the task is open again. The agent goes on as soon as it can, or hears of it with its next call.',
  change: 'The check was changed, and the task is open again.',
  done: 'Settled as done.',
  cancel: 'Cancelled.',
}

function fieldsOf(key: Answer, said: string): PersonsFields {
  if (key === 'change') return said === '' ? { checks: [] } : { check: said }
  return { status: key === 'done' ? 'completed' : 'cancelled' }
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

/** The first one decides nothing, so that a stray Enter does not either. */
const choicesFor = ({ checks = [] }: Task): readonly Choice<Answer | 'skipped' | 'quit'>[] => [
  { value: 'skipped', label: 'Decide later: it goes on waiting' },
  { value: 'change', label: `Change the check${checks.length > 0 ? ', or drop it' : ''}` },
  { value: 'done', label: 'Settle it as done' },
  { value: 'cancel', label: 'Cancel it' },
  { value: 'insist', label: 'Insist: the agent does it as asked' },
  { value: 'quit', label: 'Quit: it goes on waiting' },
]
