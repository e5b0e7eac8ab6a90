import { rmSync } from 'node:fs'
import type { Environment } from '../../src/cli/environment.ts'
import { LiveSettings } from '../../src/cli/server/page-settings.ts'
import { serverSettings } from '../../src/cli/server/server-settings.ts'
import type { PolicyPatch } from '../../src/core/model/policy.ts'
import { learningRedactor, type LearningRedactor } from '../../src/core/text/redact.ts'
import type { FixedSettings } from '../../src/core/model/settings.ts'
import type { ServerSettings } from '../../src/server/http/route.ts'
import { LiveModels } from '../../src/models/live-models.ts'
import { scratchFolder } from './scratch.ts'

export interface SettingsScene {
  /** The configuration folder. */
  readonly data: string
  readonly settings: LiveSettings
  readonly models: LiveModels
  readonly part: ServerSettings
  readonly redact: LearningRedactor
  /** The names of the settings that were changed. */
  readonly changed: string[]
  readonly remove: () => void
}

export interface SceneOptions {
  readonly data?: string
  readonly fixed?: FixedSettings
  readonly file?: PolicyPatch
  readonly environment?: Environment
}

/** For tests: the settings of a server, in a folder of their own. */
export function settingsScene(options: SceneOptions = {}): SettingsScene {
  const { data = scratchFolder(), fixed = {}, file = {}, environment = {} } = options
  const redact = learningRedactor({ known: [] })
  const settings = new LiveSettings({ folder: data, fixed, file, environment, redact })
  const models = new LiveModels(() => settings.choice, { environment })
  const changed: string[] = []
  const onChanged = (fields: readonly string[]): void => void changed.push(...fields)
  const part = serverSettings({ settings, models, environment, redact, scope: 'server', onChanged })
  return { data, settings, models, part, redact, changed, remove: () => rmSync(data, { recursive: true, force: true }) }
}
