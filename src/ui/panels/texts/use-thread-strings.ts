import { englishThread } from './english-thread.ts'
import { type Strings, type ThreadStrings, useStrings } from './strings.ts'

export type AllStrings = Strings & { readonly thread: ThreadStrings }

export const withThread = (strings: Strings): AllStrings => ({ ...strings, thread: strings.thread ?? englishThread })

const KNOWN = new WeakMap<Strings, AllStrings>()

export function useThreadStrings(): AllStrings {
  const strings = useStrings()
  const all = KNOWN.get(strings) ?? withThread(strings)
  KNOWN.set(strings, all)
  return all
}
