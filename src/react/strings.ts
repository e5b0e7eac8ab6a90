import { createContext, useContext } from 'react'
import { english } from './english.ts'
import type { englishThread } from './english-thread.ts'
import type { englishEvents } from './event-text.ts'

/**
 * Every text that the panels show: the keys and parameters of `english`. `english` and `chinese` are built in; another
 * language is another object like them.
 */
export type Strings = Texts<typeof english> & {
  /** The texts of a thread; without them it is in English. */
  readonly thread?: ThreadStrings
  /** What the timeline says of each event; without them it is in English. */
  readonly events?: EventStrings
}
/** The texts of a thread: decided plans, steps, tools and ends. */
export type ThreadStrings = Texts<typeof englishThread>
/** The texts about checks, and about how far "done" can be trusted. */
export type CheckStrings = Strings['checks']
/** The texts about how a task was worked on: verdicts and tool calls. */
export type EvidenceStrings = Strings['evidence']
/** The texts of the timeline. */
export type TimelineStrings = Strings['timeline']
/** What the timeline says of each event. */
export type EventStrings = Texts<typeof englishEvents>

/** The same texts in any language. */
type Texts<T> = T extends string
  ? string
  : T extends (...data: infer P) => string
    ? (...data: P) => string
    : { readonly [K in keyof T]: Texts<T[K]> }

/** The strings that panels use; English without a provider. `RunsheetProvider` sets it, too. */
export const StringsContext = createContext<Strings>(english)
/** The texts of the panels in the language of the page. */
export const useStrings = (): Strings => useContext(StringsContext)
