import { Pencil, X } from 'lucide-react'
import { createContext, type ReactElement, useContext, useLayoutEffect, useRef, useState } from 'react'
import { Button, IconButton } from '../parts/controls.tsx'
import type { CheckRun } from '../../../core/proof/proof.ts'
import type { Finding } from '../../../core/proof/standing.ts'
import type { Task } from '../../../core/model/task.ts'
import { checkLabel, conditionsOf, formatDuration, runText, textOf } from '../parts/text.ts'
import { LineInput } from '../parts/line-input.tsx'
import type { TaskCheck } from './proof.ts'
import { ProofIcon } from '../parts/icons.tsx'
import { useStrings } from '../texts/strings.ts'
import { useFocusOn, useNow } from '../parts/hooks.ts'
import type { Client } from '../../../client/client.ts'
import type { ConversationView } from '../parts/provider.tsx'
import type { TasksHandle } from './use-tasks.ts'

interface CheckItemProps {
  readonly task: Task
  readonly of: TaskCheck
  readonly onApprove: () => void
  readonly onEdit: (text: string) => Promise<boolean>
  readonly onRemove: () => void
}

export function CheckItem({ task, of, onApprove, onEdit, onRemove }: CheckItemProps): ReactElement {
  const strings = useStrings()
  const { check, finding, last } = of
  const item = useRef<HTMLLIElement>(null)
  const focusOn = useFocusOn(item)
  const [text, setText] = useState<string>()
  const output = useOutput(last)
  const label = checkLabel(check, strings)
  const conditions = conditionsOf(check, strings)
  const about = strings.timeline.changed('', label)
  const findings: Readonly<Partial<Record<Finding, string>>> = strings.checks.finding
  const note = of.state === 'running' ? undefined : findings[finding]
  const save = async (typed: string | undefined, isByKey: boolean): Promise<void> => {
    setText(undefined)
    if (isByKey) focusOn('.rs-edit')
    const next = typed?.trim() ?? ''
    if (next === '' || next === textOf(check)) return
    if (!(await onEdit(next))) setText(typed)
  }
  return (
    <li ref={item} className="rs-check-item">
      {text === undefined ? (
        <span className={`rs-check-label${check.kind === 'person' ? '' : ' rs-code'}`}>
          {label}
          {conditions !== '' && <small> {conditions}</small>}
        </span>
      ) : (
        <LineInput label={strings.edit + about} className="rs-code" text={text} onText={setText} onDone={save} />
      )}
      <span className="rs-check-state">
        <ProofIcon of={shownState(of)} />
        <StateText of={of} />
      </span>
      {output.load && of.state !== 'running' && (
        <button
          type="button"
          className="rs-more rs-show-output"
          aria-label={strings.checks.showOutput + about}
          onClick={() => void output.load?.().then(() => focusOn('.rs-output'))}
        >
          {strings.checks.showOutput}
        </button>
      )}
      <span className="rs-check-actions">
        <CheckButton
          task={task}
          of={of}
          about={about}
          onApprove={isChanged(of) ? () => void onEdit(textOf(check)) : onApprove}
        />
        <IconButton
          className="rs-edit"
          label={strings.edit}
          about={about}
          icon={Pencil}
          onAct={() => setText(textOf(check))}
        />
        <IconButton label={strings.remove} about={about} icon={X} onAct={onRemove} />
      </span>
      {note !== undefined && <p className="rs-note">{note}</p>}
      {last?.reason !== undefined && of.state === 'inconclusive' && <p className="rs-note">{last.reason}</p>}
      {of.output !== undefined && <Output text={of.output} about={about} />}
      {output.text !== undefined && of.state !== 'running' && <Output text={output.text} about={about} />}
    </li>
  )
}

function StateText({ of: { check, state, finding, last, startedAt } }: { readonly of: TaskCheck }): ReactElement {
  const strings = useStrings()
  const { client } = usePlan()
  const now = useNow(client, state === 'running')
  const words = strings.checks.state
  if (state === 'running' && startedAt !== undefined) {
    const elapsed = now === undefined ? '' : ` · ${formatDuration(now - Date.parse(startedAt))}`
    return <>{words.running + elapsed}</>
  }
  const shown = shownState({ check, state, finding })
  return <>{last && shown === last.result ? runText(last, strings) : words[shown]}</>
}

function shownState({ check, state, finding }: Pick<TaskCheck, 'check' | 'state' | 'finding'>) {
  if (finding === 'unapproved') return finding
  return check.kind === 'person' && state === 'waiting' ? 'unticked' : state
}

/** Approval helps only where it lets the check run or makes its result count. */
const isApprovable = ({ finding }: TaskCheck): boolean => finding === 'unapproved' || finding === 'reworded'

/** The check's programs changed, so it needs approval again; saving its text records the current ones. */
const isChanged = ({ state, last }: TaskCheck): boolean => state === 'inconclusive' && last?.changed === true

interface CheckButtonProps {
  readonly task: Task
  readonly of: TaskCheck
  readonly about: string
  readonly onApprove: () => void
}

function CheckButton({ task, of, about, onApprove }: CheckButtonProps): ReactElement | null {
  const { checks: strings } = useStrings()
  const { proof } = usePlan().plan
  const { check, state } = of
  const act = (label: string, onAct: () => unknown, isDisabled = false): ReactElement => (
    <Button isSmall aria-label={label + about} aria-disabled={isDisabled} onClick={() => isDisabled || void onAct()}>
      {label}
    </Button>
  )
  if (isApprovable(of) || isChanged(of)) return act(strings.approveOne, onApprove)
  if (check.kind === 'person') return state === 'passed' ? null : act(strings.tick, () => proof.tick(task, check))
  if (!of.isRunnable) return null
  if (state === 'running') return act(strings.stop, () => proof.stop(task, check))
  return act(of.last ? strings.runAgain : strings.run, () => proof.run(task, check), state === 'queued')
}

interface OutputProps {
  readonly text: string
  readonly about: string
}

function Output({ text, about }: OutputProps): ReactElement {
  const { checks: strings } = useStrings()
  const box = useRef<HTMLPreElement>(null)
  // Errors are usually at the end.
  useLayoutEffect(() => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight
  }, [text])
  if (text === '') return <p className="rs-note">{strings.noOutput}</p>
  return (
    <pre ref={box} className="rs-output rs-code" tabIndex={0} role="group" aria-label={strings.output + about}>
      {text}
    </pre>
  )
}

function useOutput(run: CheckRun | undefined) {
  const { proof } = usePlan().plan
  const [loaded, setLoaded] = useState<{ readonly run: string; readonly text: string }>()
  const text = run?.tail ?? (loaded?.run === run?.run_id ? loaded?.text : undefined)
  const load = async (): Promise<void> => {
    if (!run) return
    const read = await proof.outputOf(run)
    if (read !== undefined) setLoaded({ run: run.run_id, text: read })
  }
  return { text, load: (run?.result === 'passed' || run?.hidden) && text === undefined ? load : undefined }
}

interface Plan {
  readonly client: Client
  readonly view: ConversationView
  readonly plan: TasksHandle
}

/** Gives the plan to the open part of a row. Props would defeat the memoization of rows. */
export const PlanContext = createContext<Plan | undefined>(undefined)

export function usePlan(): Plan {
  const plan = useContext(PlanContext)
  if (!plan) throw new Error('A row of the plan is rendered outside of its panel.')
  return plan
}
