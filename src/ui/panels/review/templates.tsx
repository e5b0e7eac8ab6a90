import { X } from 'lucide-react'
import { type KeyboardEvent, type ReactElement, useEffect, useId, useRef, useState } from 'react'
import { Button, IconButton } from '../parts/controls.tsx'
import type { Client } from '../../../client/client.ts'
import type { Template } from '../../../core/model/template.ts'
import { type EditableRow, editableRow, fieldsOf, filledFields, type RowFields, submittedRow } from './draft.ts'
import { LineInput } from '../parts/line-input.tsx'
import { useStrings } from '../texts/strings.ts'
import { errorText } from '../texts/error-text.ts'

interface TemplatesProps {
  readonly client: Client
  readonly rows: readonly EditableRow[]
  readonly onInsert: (rows: readonly RowFields[]) => void
  readonly onClose: () => void
}

export function Templates({ client, rows, onInsert, onClose }: TemplatesProps): ReactElement {
  const strings = useStrings()
  const dialog = useRef<HTMLDialogElement>(null)
  const heading = useId()
  const handle = useTemplates(client)
  const [chosenName, setChosenName] = useState<string>()
  const { templates, message, problem, deleted } = handle
  const chosen = templates?.find(({ name }) => name === chosenName) ?? templates?.[0]
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog
      ref={dialog}
      className="rs-dialog"
      aria-labelledby={heading}
      onKeyDown={stopKeys}
      onClose={onClose}
      onClick={event => event.target === dialog.current && dialog.current.close()}
    >
      <div className="rs-dialog-page">
        <header>
          <h3 id={heading}>{strings.templates.title}</h3>
          <IconButton label={strings.close} icon={X} onAct={() => dialog.current?.close()} />
        </header>
        {templates?.length === 0 && <p className="rs-note">{strings.templates.none}</p>}
        {chosen && (
          <div className="rs-templates">
            <ul>
              {templates?.map(template => (
                <li key={template.name}>
                  <button type="button" aria-pressed={template === chosen} onClick={() => setChosenName(template.name)}>
                    <span dir="auto">{template.name}</span>
                    <small>{strings.reviewing.steps(template.tasks.length)}</small>
                  </button>
                </li>
              ))}
            </ul>
            <Preview
              key={chosen.name}
              template={chosen}
              handle={handle}
              onRenamed={setChosenName}
              onInsert={() => {
                dialog.current?.close()
                onInsert(chosen.tasks.map(fieldsOf))
              }}
            />
          </div>
        )}
        <p className="rs-template-said">
          <span role="status">{message}</span>
          <span className="rs-problem-text" role="alert">
            {problem}
          </span>
          {deleted && (
            <button type="button" className="rs-link" onClick={() => void handle.restore()}>
              {strings.reviewing.undo}
            </button>
          )}
        </p>
        <SaveForm rows={rows} handle={handle} onSaved={setChosenName} />
      </div>
    </dialog>
  )
}

interface PreviewProps {
  readonly template: Template
  readonly handle: TemplatesHandle
  readonly onRenamed: (name: string) => void
  readonly onInsert: () => void
}

function Preview({ template, handle, onRenamed, onInsert }: PreviewProps): ReactElement {
  const strings = useStrings()
  const [name, setName] = useState<string>()
  const rename = async (to: string | undefined): Promise<void> => {
    setName(undefined)
    const chosen = (to ?? '').trim()
    if (chosen === '' || chosen === template.name) return
    if (await handle.rename(template.name, chosen)) onRenamed(chosen)
  }
  return (
    <section aria-label={template.name}>
      {name === undefined ? (
        <h4 dir="auto">{template.name}</h4>
      ) : (
        <LineInput label={strings.templates.name} text={name} onText={setName} onDone={rename} />
      )}
      <ol tabIndex={0} aria-label={template.name}>
        {template.tasks.map((task, index) => (
          <li key={index}>
            <span dir="auto">{task.title}</span>
            {filledFields(editableRow(task, index), strings).map(text => (
              <small key={text} dir="auto">
                {text}
              </small>
            ))}
          </li>
        ))}
      </ol>
      <div className="rs-template-actions">
        <Button onClick={() => void handle.remove(template)}>{strings.templates.remove}</Button>
        <Button onClick={() => setName(template.name)}>{strings.templates.rename}</Button>
        <Button kind="primary" onClick={onInsert}>
          {strings.templates.insert(template.tasks.length)}
        </Button>
      </div>
    </section>
  )
}

interface SaveFormProps {
  readonly rows: readonly EditableRow[]
  readonly handle: TemplatesHandle
  readonly onSaved: (name: string) => void
}

/** Replacing a template of the same name takes a second button. */
function SaveForm({ rows, handle, onSaved }: SaveFormProps): ReactElement {
  const strings = useStrings()
  const [name, setName] = useState('')
  const [isTaken, setTaken] = useState(false)
  const save = async (isReplacing: boolean): Promise<void> => {
    const chosen = name.trim()
    const outcome = await handle.save(chosen, rows, isReplacing)
    setTaken(outcome === 'taken')
    if (outcome !== 'saved') return
    setName('')
    onSaved(chosen)
  }
  return (
    <form
      className="rs-template-save"
      onSubmit={event => {
        event.preventDefault()
        void save(false)
      }}
    >
      <label>
        {strings.templates.saveAs(rows.length)}
        <input
          className="rs-input"
          dir="auto"
          placeholder={strings.templates.name}
          value={name}
          onChange={event => {
            setTaken(false)
            handle.clear()
            setName(event.target.value)
          }}
        />
      </label>
      {isTaken ? (
        <Button kind="danger" onClick={() => void save(true)}>
          {strings.templates.replace}
        </Button>
      ) : (
        <Button type="submit" disabled={name.trim() === ''}>
          {strings.save}
        </Button>
      )}
    </form>
  )
}

/** The surrounding panel has key handlers of its own. */
const stopKeys = (event: KeyboardEvent): void => event.stopPropagation()

interface TemplatesHandle {
  /** Undefined until loaded. */
  readonly templates: readonly Template[] | undefined
  readonly message: string
  readonly problem: string
  /** The template that was deleted last; `restore` saves it again. */
  readonly deleted: Template | undefined
  /** `taken` if another template has the name and may not be replaced. */
  readonly save: (
    name: string,
    rows: readonly EditableRow[],
    isReplacing: boolean,
  ) => Promise<'saved' | 'taken' | 'failed'>
  readonly rename: (name: string, to: string) => Promise<boolean>
  readonly remove: (template: Template) => Promise<void>
  readonly restore: () => Promise<void>
  readonly clear: () => void
}

function useTemplates(client: Client): TemplatesHandle {
  const strings = useStrings()
  const [templates, setTemplates] = useState<readonly Template[]>()
  const [said, setSaid] = useState<{ message?: string; problem?: string; deleted?: Template }>({})
  const load = async (): Promise<readonly Template[]> => {
    const answer = await client.templates()
    setTemplates(answer.templates)
    return answer.templates
  }
  const fail = (error: unknown): void => setSaid({ problem: errorText(strings, error) })
  useEffect(() => void load().catch(fail), [client])
  /** Runs an action, reports it, and reloads the list, which other windows change, too. */
  const act = async (work: () => Promise<unknown>, done: typeof said): Promise<boolean> => {
    try {
      await work()
      setSaid(done)
      await load()
      return true
    } catch (error) {
      fail(error)
      return false
    }
  }
  return {
    templates,
    message: said.message ?? '',
    problem: said.problem ?? '',
    deleted: said.deleted,
    save: async (name, rows, isReplacing) => {
      const tasks = rows.map(row => ({ ...submittedRow(row), draft_index: undefined, approve: undefined }))
      const known = isReplacing ? [] : await load().catch(() => [])
      if (known.some(each => each.name === name)) {
        setSaid({ problem: strings.templates.exists(name) })
        return 'taken'
      }
      const isSaved = await act(() => client.saveTemplate(name, tasks), { message: strings.templates.saved(name) })
      return isSaved ? 'saved' : 'failed'
    },
    rename: (name, to) => act(() => client.renameTemplate(name, to), { message: strings.templates.saved(to) }),
    remove: async template => {
      const done = { message: strings.templates.removed(template.name), deleted: template }
      await act(() => client.deleteTemplate(template.name), done)
    },
    restore: async () => {
      const { deleted } = said
      if (deleted) await act(() => client.saveTemplate(deleted.name, deleted.tasks), {})
    },
    clear: () => setSaid({}),
  }
}
