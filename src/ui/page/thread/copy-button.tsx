import { Check, Copy } from 'lucide-react'
import { type ReactElement, useEffect, useState } from 'react'
import type { PageStrings } from '../texts/page-strings.ts'

interface CopyButtonProps {
  readonly text: string
  readonly strings: Pick<PageStrings, 'copy' | 'copied'>
  readonly label?: string
}

export function CopyButton({ text, strings, label = strings.copy }: CopyButtonProps): ReactElement | null {
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
