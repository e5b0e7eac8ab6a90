import { englishFiling } from './english-filing.ts'
import type { FilingStrings } from './filing-strings.ts'
import type { PageStrings } from './page-strings.ts'

/** The texts of what is done with conversations, in the language of the page. */
export const wordsOf = (strings: PageStrings): FilingStrings => strings.filing ?? englishFiling
