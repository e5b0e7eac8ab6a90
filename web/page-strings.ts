import type { SessionGroup, Strings } from 'runsheet/react'
import type { CommandStrings } from './command-strings.ts'
import type { FilingStrings } from './filing-strings.ts'
import type { ConversationStrings } from './conversation-strings.ts'
import type { CallStrings } from './call-strings.ts'
import { englishPage } from './english-page.ts'
import type { SettingsStrings } from './settings-strings.ts'
import type { ToolsetStrings } from './toolset-strings.ts'

/** The texts of the page besides those of its panels. */
export interface PageStrings {
  readonly panels: Strings
  /** Of parts that are loaded on demand. English ones come with their part. */
  readonly conversation?: ConversationStrings
  readonly filing?: FilingStrings
  readonly command?: CommandStrings
  readonly conversations: string
  readonly messages: string
  readonly newChat: string
  readonly untitled: string
  readonly search: string
  readonly groups: Readonly<Record<Exclude<SessionGroup, 'older'>, string>>
  readonly noConversations: string
  readonly archived: string
  readonly restore: string
  readonly message: string
  /** The message box while a review waits. */
  readonly requestChanges: string
  readonly enterRequestsChanges: string
  /** The message box while a rejection can be undone. */
  readonly sayWhy: string
  readonly enterRejects: string
  /** Of a text that was begun before the review that waits. */
  readonly writtenBefore: string
  readonly enterAgain: string
  /** The message box while the agent works: what is sent waits for its next step. */
  readonly steer: string
  readonly enterQueues: string
  readonly send: string
  readonly stop: string
  readonly stopping: string
  readonly copy: string
  readonly copied: string
  readonly retry: string
  /** What is said to the agent when blocked steps are tried again. */
  readonly retryBlockedMessage: string
  readonly you: string
  readonly assistant: string
  readonly toolset: string
  readonly model: string
  readonly menu: string
  readonly close: string
  readonly theme: string
  readonly planBeside: string
  readonly language: string
  readonly reconnecting: string
  readonly loading: string
  readonly skip: string
  readonly signInTitle: string
  readonly signInHow: string
  readonly badLink: string
  readonly signedOut: string
  /** Title and hint of the first screen. `list`: an unreviewed toolset that keeps items for a person. */
  readonly empty: Readonly<Record<'reviewed' | 'unreviewed' | 'list', readonly [title: string, hint: string]>>
  /** For the built-in model. */
  readonly demoExample: string
  readonly examples: readonly string[]
  readonly working: string
  readonly waitingForYou: string
  readonly history: string
  readonly backToChat: string
  readonly noHistory: string
  readonly turn: (number: number) => string
  readonly byOtherAgent: string
  readonly noTasks: string
  readonly continuedIn: (turn: number) => string
  readonly fromTurn: (turn: number) => string
  readonly allEvents: string
  readonly showRest: (characters: number) => string
  readonly taskHistory: (title: string) => string
  readonly showMore: string
  readonly turnStatus: Readonly<Record<'open' | 'running' | 'done' | 'incomplete' | 'failed' | 'stopped', string>>
  readonly openOf: (open: number, steps: number) => string
  readonly continueMessage: string
  // Of parts that are loaded on demand, which bring the English ones.
  readonly calls?: CallStrings
  readonly settings?: SettingsStrings
  readonly toolsets?: ToolsetStrings
}

export type Language = 'en' | 'zh'

/** English is in the first load, since the panels fall back to it; other languages are fetched. */
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
