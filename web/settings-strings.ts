import type { Notifying } from './call-prefs.ts'
import type { ThemeChoice } from './settings-display.tsx'
import type { ProviderName } from './settings-draft.ts'
import type { SettingsPage } from './settings.tsx'

/** The texts of the settings. */
export interface SettingsStrings {
  readonly title: string
  readonly pages: Readonly<Record<SettingsPage, string>>
  readonly unsaved: string
  readonly discard: string
  readonly keepEditing: string
  /** Another window was faster. */
  readonly conflict: string
  readonly ofNode: string
  readonly lockedByOption: (name: string) => string
  readonly lockedByVariable: (name: string) => string
  /** Of the base URL or the key where only the other is given. */
  readonly lockedAlong: (name: string) => string
  readonly savedBelow: (value: string) => string
  readonly fromFile: string
  readonly reset: string
  readonly on: string
  readonly off: string

  readonly modelIntro: string
  readonly provider: string
  readonly providers: Readonly<Record<ProviderName, readonly [name: string, about: string]>>
  readonly modelName: string
  readonly modelHint: (example: string) => string
  readonly baseUrl: string
  readonly baseUrlHint: string
  readonly otherUrl: string
  readonly otherUrlHint: string
  readonly servers: string
  readonly key: string
  readonly keySaved: (ending: string | undefined) => string
  readonly keyOfVariable: (variable: string) => string
  readonly keyOptional: string
  readonly keyHint: (receiver: string) => string
  readonly getKey: (provider: string) => string
  readonly orVariable: (variable: string) => string
  readonly replaceKey: string
  readonly removeKey: string
  readonly keyRemoved: string
  readonly erasesKey: (receiver: string) => string
  readonly judge: string
  readonly judgeHint: string
  readonly sameJudge: string
  readonly otherJudge: string
  readonly judgeKeyHint: (variable: string) => string
  readonly save: string
  readonly saveAndTry: string
  readonly tryIt: string
  readonly tryJudge: string
  readonly saving: string
  readonly trying: string
  readonly saved: (model: string) => string
  readonly answered: (model: string, duration: string) => string
  readonly tried: (url: string) => string
  /** By code: what happened, and what to do. */
  readonly failures: Readonly<
    Record<'denied' | 'unreachable' | 'refused' | 'busy' | 'unknown', readonly [string, string]>
  >
  readonly judgeNeedsKey: (variable: string) => string
  readonly problems: Readonly<Record<'key' | 'base_url' | 'model' | 'assessor_model', string>>

  readonly review: string
  /** Which option or variable fixes the toolset, or how to choose another. */
  readonly toolsetHint: (by?: string) => string
  readonly reviewHint: string
  readonly noReview: string
  readonly deadline: string
  readonly deadlineHint: string
  readonly noDeadline: string
  readonly gate: string
  readonly gateHint: string
  readonly newOnly: string

  readonly notify: string
  readonly notifyStates: Readonly<Record<Notifying, string>>
  readonly allowSteps: string
  readonly sound: string
  readonly soundHint: string
  readonly playSound: string
  readonly alwaysShown: string

  readonly language: string
  readonly theme: string
  readonly themes: Readonly<Record<ThemeChoice, string>>
  readonly planBeside: string
  readonly planBesideHint: string
  readonly inBrowser: string
}
