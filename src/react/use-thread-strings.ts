import { englishThread } from './english-thread.ts'
import { type Strings, type ThreadStrings, useStrings } from './strings.ts'

/** The texts of the panels with those of a thread. */
export type AllStrings = Strings & { readonly thread: ThreadStrings }

export const withThread = (strings: Strings): AllStrings => ({ ...strings, thread: strings.thread ?? englishThread })

const KNOWN = new WeakMap<Strings, AllStrings>()

/** The texts of the panels and of a thread, in the language of the page. */
export function useThreadStrings(): AllStrings {
  const strings = useStrings()
  const all = KNOWN.get(strings) ?? withThread(strings)
  KNOWN.set(strings, all)
  return all
}
