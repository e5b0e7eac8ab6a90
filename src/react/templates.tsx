import { type ReactElement, useEffect, useRef, useState } from 'react'
import type { Client } from '../client/client.ts'
import type { Template } from '../domain/template.ts'
import { type EditableRow, fieldsOf, type RowFields, submittedRow } from './draft.ts'
import { errorText } from './error-text.ts'
import { isComposing } from './is-composing.ts'
import { useStrings } from './strings.ts'
import { useFocusOn } from './use-focus-on.ts'

interface TemplatesProps {
  readonly client: Client
  readonly rows: readonly EditableRow[]
  readonly onInsert: (rows: readonly RowFields[]) => void
}

/** Saved plans: insert one, or save the rows as another. */
export function Templates({ client, rows, onInsert }: TemplatesProps): ReactElement {
  const strings = useStrings()
  const [templates, setTemplates] = useState<readonly Template[]>([])
  const [name, setName] = useState<string>()
  const [problem, setProblem] = useState('')
  /** The existing name that the person is asked whether to replace. */
  const [taken, setTaken] = useState('')
  const [saved, setSaved] = useState('')
  const tools = useRef<HTMLDivElement>(null)
  const focusOn = useFocusOn(tools)
  useEffect(() => {
    client.templates().then(
      answer => setTemplates(answer.templates),
      () => {},
    )
  }, [client])
  const insert = (chosen: string): void => {
    const tasks = templates.find(each => each.name === chosen)?.tasks ?? []
    onInsert(tasks.map(fieldsOf))
  }
  const close = (): void => {
    setName(undefined)
    setTaken('')
    focusOn('.rs-save-template')
  }
  const save = async (isReplacing: boolean): Promise<void> => {
    const chosen = (name ?? '').trim()
    try {
      // Another window may have saved one in the meantime.
      const known = isReplacing ? templates : (await client.templates()).templates
      setTemplates(known)
      if (!isReplacing && known.some(each => each.name === chosen)) return setTaken(chosen)
      const tasks = rows.map(row => ({ ...submittedRow(row), draft_index: undefined, approve: undefined }))
      const template = await client.saveTemplate(chosen, tasks)
      setTemplates([...known.filter(each => each.name !== template.name), template])
      setSaved(strings.templateSaved(template.name))
      setProblem('')
      close()
    } catch (error) {
      setProblem(errorText(strings, error))
    }
  }
  return (
    <div className="rs-templates" ref={tools}>
      {templates.length > 0 && (
        <select
          className="rs-input"
          aria-label={strings.insertTemplate}
          value=""
          onChange={event => insert(event.target.value)}
        >
          <option value="" disabled>
            {strings.insertTemplate}
          </option>
          {templates.map(each => (
            <option key={each.name} value={each.name}>
              {each.name}
            </option>
          ))}
        </select>
      )}
      {name === undefined ? (
        <button
          type="button"
          className="rs-button rs-save-template"
          onClick={() => {
            setSaved('')
            setName('')
          }}
        >
          {strings.saveTemplate}
        </button>
      ) : (
        <form
          className="rs-template"
          onSubmit={event => {
            event.preventDefault()
            void save(false)
          }}
          onKeyDown={event => {
            if (event.key !== 'Escape') return
            event.stopPropagation()
            if (isComposing(event)) return
            close()
          }}
        >
          <input
            autoFocus
            className="rs-input"
            aria-label={strings.templateName}
            placeholder={strings.templateName}
            value={name}
            onChange={event => {
              setTaken('')
              setName(event.target.value)
            }}
          />
          {taken === '' ? (
            <button type="submit" className="rs-button" disabled={name.trim() === ''}>
              {strings.save}
            </button>
          ) : (
            <button type="button" className="rs-button rs-danger" onClick={() => void save(true)}>
              {strings.replaceTemplate}
            </button>
          )}
        </form>
      )}
      <span className="rs-saved" role="status">
        {saved}
      </span>
      {(taken !== '' || problem !== '') && (
        <span className="rs-problem" role="alert">
          {taken === '' ? problem : strings.templateExists(taken)}
        </span>
      )}
    </div>
  )
}
