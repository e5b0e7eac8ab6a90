import { type ReactElement, useEffect, useRef, useState } from 'react'
import type { Client } from '../client/client.ts'
import type { Template } from '../domain/template.ts'
import { type Draft, type EditRow, fromTemplate, submitted } from './draft.ts'
import { explained } from './explained.ts'
import { isComposing } from './is-composing.ts'
import { useFocusOn } from './use-focus-on.ts'
import { useWords } from './words.ts'

interface TemplatesProps {
  readonly client: Client
  readonly draft: Draft
  readonly onInsert: (rows: readonly EditRow[]) => void
}

/** Batches that were saved: put one in, or save what is here. */
export function Templates({ client, draft, onInsert }: TemplatesProps): ReactElement {
  const words = useWords()
  const [templates, setTemplates] = useState<readonly Template[]>([])
  const [name, setName] = useState<string>()
  const [problem, setProblem] = useState('')
  /** The name that is taken, and asked about. */
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
    onInsert(tasks.map(fromTemplate))
  }
  const close = (): void => {
    setName(undefined)
    setTaken('')
    focusOn('.rs-save-template')
  }
  const save = async (isReplacing: boolean): Promise<void> => {
    const chosen = (name ?? '').trim()
    try {
      // As they are by now: another window may have saved one since.
      const known = isReplacing ? templates : (await client.templates()).templates
      setTemplates(known)
      if (!isReplacing && known.some(each => each.name === chosen)) return setTaken(chosen)
      const rows = draft.rows.map(row => ({ ...submitted(row), draft_index: undefined }))
      const template = await client.saveTemplate(chosen, rows)
      setTemplates([...known.filter(each => each.name !== template.name), template])
      setSaved(words.templateSaved(template.name))
      setProblem('')
      close()
    } catch (error) {
      setProblem(explained(words, error))
    }
  }
  return (
    <div className="rs-templates" ref={tools}>
      {templates.length > 0 && (
        <select
          className="rs-input"
          aria-label={words.insertTemplate}
          value=""
          onChange={event => insert(event.target.value)}
        >
          <option value="" disabled>
            {words.insertTemplate}
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
          {words.saveTemplate}
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
            aria-label={words.templateName}
            placeholder={words.templateName}
            value={name}
            onChange={event => {
              setTaken('')
              setName(event.target.value)
            }}
          />
          {taken === '' ? (
            <button type="submit" className="rs-button" disabled={name.trim() === ''}>
              {words.save}
            </button>
          ) : (
            <button type="button" className="rs-button rs-danger" onClick={() => void save(true)}>
              {words.replaceTemplate}
            </button>
          )}
        </form>
      )}
      <span className="rs-saved" role="status">
        {saved}
      </span>
      {(taken !== '' || problem !== '') && (
        <span className="rs-problem" role="alert">
          {taken === '' ? problem : words.templateExists(taken)}
        </span>
      )}
    </div>
  )
}
