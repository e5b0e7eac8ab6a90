import { type ReactElement, useEffect, useRef } from 'react'
import { AutosizeTextarea, isComposing } from 'runsheet/react'
import './line-editor.css'

interface LineEditorProps {
  readonly label: string
  readonly text: string
  readonly save: string
  readonly cancel: string
  readonly note?: string
  readonly onText: (text: string) => void
  readonly onSave: (text: string) => void
  readonly onCancel: () => void
}

export function LineEditor({
  label,
  text,
  save,
  cancel,
  note,
  onText,
  onSave,
  onCancel,
}: LineEditorProps): ReactElement {
  const box = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    const element = box.current
    element?.focus()
    element?.setSelectionRange(element.value.length, element.value.length)
  }, [])
  const bare = text.trim()
  const submit = (): void => {
    if (bare !== '') onSave(bare)
  }
  return (
    <form
      className="app-editor"
      onSubmit={event => {
        event.preventDefault()
        submit()
      }}
    >
      <AutosizeTextarea
        ref={box}
        className="rs-input"
        aria-label={label}
        rows={1}
        value={text}
        onChange={event => onText(event.target.value)}
        onKeyDown={event => {
          if (isComposing(event)) return
          if (event.key === 'Escape') {
            event.stopPropagation()
            onCancel()
          }
          if (event.key !== 'Enter' || event.shiftKey) return
          event.preventDefault()
          submit()
        }}
      />
      <div className="app-editor-foot">
        <span className="app-quiet">{note}</span>
        <button type="button" className="rs-button rs-small" onClick={onCancel}>
          {cancel}
        </button>
        <button type="submit" className="rs-button rs-small rs-primary" disabled={bare === ''}>
          {save}
        </button>
      </div>
    </form>
  )
}
