import { type ReactElement, useEffect, useRef, useState } from 'react'
import { AutosizeTextarea, isComposing } from 'runsheet/react'
import { Check, Copy } from 'lucide-react'
import { usePageStrings } from '../texts/strings.ts'
import '../chat/chat.css'

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

interface CopyButtonProps {
  readonly text: string
  readonly label?: string
}

export function CopyButton({ text, label: own }: CopyButtonProps): ReactElement | null {
  const strings = usePageStrings()
  const label = own ?? strings.copy
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), 1_500)
    return () => clearTimeout(timer)
  }, [isCopied])
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => {},
    )
  }
  if (!('clipboard' in navigator)) return null
  return (
    <>
      <button type="button" className="rs-icon app-copy" aria-label={label} title={label} onClick={copy}>
        {isCopied ? <Check size={14} aria-hidden="true" /> : <Copy size={14} aria-hidden="true" />}
      </button>
      <span className="rs-sr" role="status">
        {isCopied ? strings.copied : ''}
      </span>
    </>
  )
}
