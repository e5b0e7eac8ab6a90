import type { CommandStrings } from './english-commands.ts'
import type { ConversationStrings } from './english-conversation.ts'
import type { FilingStrings } from './english-filing.ts'
import { englishPage } from './english-page.ts'
import type { SettingsStrings } from './english-settings.ts'
import type { CallStrings, ToolsetStrings } from './english-small-parts.ts'
import type { ToolsStrings } from './english-tools.ts'

/** Lazy parts bring their own English texts. */
export type PageStrings = typeof englishPage & {
  readonly calls?: CallStrings
  readonly command?: CommandStrings
  readonly conversation?: ConversationStrings
  readonly filing?: FilingStrings
  readonly settings?: SettingsStrings
  readonly tools?: ToolsStrings
  readonly toolsets?: ToolsetStrings
}

export type Language = 'en' | 'zh'

/** English is in the first load because the panels fall back to it; other languages are fetched. */
export async function loadStrings(language: Language): Promise<PageStrings> {
  return language === 'zh' ? (await import('./chinese-page.ts')).chinesePage : englishPage
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
