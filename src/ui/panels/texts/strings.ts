import { createContext, useContext } from 'react'
import { english } from './english.ts'
import type { englishEvents, englishThread } from './english-thread.ts'

/**
 * Every text of the panels: the keys and parameters of `english`. `english` and `chinese` are built in; to add a
 * language, pass an object of the same type.
 */
export type Strings = Texts<typeof english> & {
  /** The texts of a thread. Default: English. */
  readonly thread?: ThreadStrings
  /** The timeline's sentences for events. Default: English. */
  readonly events?: EventStrings
}
/** The texts of a thread: decided plans, steps, tools and turn ends. */
export type ThreadStrings = Texts<typeof englishThread>
/** The texts about checks and about how far "done" can be trusted. */
export type CheckStrings = Strings['checks']
/** The texts about verdicts and tool calls of a task. */
export type EvidenceStrings = Strings['evidence']
/** The texts of the timeline. */
export type TimelineStrings = Strings['timeline']
/** The timeline's sentences for events. */
export type EventStrings = Texts<typeof englishEvents>

type Texts<T> = T extends string
  ? string
  : T extends (...data: infer P) => string
    ? (...data: P) => string
    : { readonly [K in keyof T]: Texts<T[K]> }

/** The strings of the panels; English without a provider. `RunsheetProvider` sets it, too. */
export const StringsContext = createContext<Strings>(english)
/** The current strings of the panels. */
export const useStrings = (): Strings => useContext(StringsContext)

/** The locale for dates and times: the strings' language, in the browser's regional variant if there is one. */
export function localeOf({ locale }: Strings): string {
  // Browsers also list entries that are not language tags, such as `en-US@posix`.
  const regional = new RegExp(`^${locale}(-[A-Z]{2})?$`)
  return globalThis.navigator?.languages?.find(each => regional.test(each)) ?? locale
}
