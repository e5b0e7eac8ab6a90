import { createContext, useContext } from 'react'
import { englishPage } from './english.ts'
import type { LaterStrings } from './english-later.ts'

/** The parts that load after the first render bring their own English texts. */
export type PageStrings = typeof englishPage & { readonly later?: LaterStrings }

export const PageStringsContext = createContext<PageStrings>(englishPage)
/** The texts of the page in its language. */
export const usePageStrings = (): PageStrings => useContext(PageStringsContext)

export type Language = 'en' | 'zh'

/** English is in the first load because the panels fall back to it; other languages are fetched. */
export async function loadStrings(language: Language): Promise<PageStrings> {
  return language === 'zh' ? (await import('./chinese.ts')).chinesePage : englishPage
}

const KEY = 'runsheet.language'

export function preferredLanguage(): Language {
  const chosen = localStorage.getItem(KEY)
  if (chosen === 'en' || chosen === 'zh') return chosen
  return navigator.language.startsWith('zh') ? 'zh' : 'en'
}

export function saveLanguage(language: Language): void {
  localStorage.setItem(KEY, language)
}
