import { type ReactElement, useState } from 'react'
import { LineInput } from 'runsheet/react'
import type { PageStrings } from '../texts/page-strings.ts'
import { filingStrings } from '../texts/english-filing.ts'

/** The server's limit. */
const MAX_CHARACTERS = 120

interface RenameTitleProps {
  readonly strings: PageStrings
  readonly title: string
  /** Called with undefined if the title is unchanged. */
  readonly onDone: (title: string | undefined, isByKey: boolean) => void
}

export function RenameTitle({ strings, title, onDone }: RenameTitleProps): ReactElement {
  const [text, setText] = useState(title)
  return (
    <LineInput
      label={filingStrings(strings).newTitle}
      className="app-rename"
      maxLength={MAX_CHARACTERS}
      text={text}
      onText={setText}
      onDone={(typed = '', isByKey) => {
        const wanted = typed.trim()
        onDone(wanted === '' || wanted === title ? undefined : wanted, isByKey)
      }}
    />
  )
}
