import { createHash } from 'node:crypto'
import type { LanguageModel } from 'ai'
import { DEMO, providerOf, type Connection } from '../core/model/settings.ts'
import type { Assessor } from '../engine/worker/model-judge.ts'
import { ModelChanged, UnknownModel, type Models } from '../engine/turn/given-models.ts'
import { isStructured, modelFor, type ModelSettings } from './models.ts'

/** The models that the settings name now. The object stays the same until they change. */
export interface ModelChoice {
  readonly model: string
  readonly assessor?: string | undefined
  readonly connectionOf: (name: string) => Connection
}

/** Settings that are fixed while the process runs. */
export type FixedModelSettings = Pick<ModelSettings, 'environment' | 'demoPaceMs'>

/** Former connections that running turns may still use. They end with the process. */
const MAX_KEPT = 8

/**
 * Models of settings that change while turns run. A new turn uses the current settings. A turn that began at an
 * endpoint stays there with the current key; if the settings have left that endpoint, with its former key while this
 * process lives; otherwise it fails with `ModelChanged`.
 */
export class LiveModels implements Models {
  readonly #current: () => ModelChoice
  readonly #fixed: FixedModelSettings
  #seen: ModelChoice | undefined
  readonly #kept = new Map<string, Connection>()
  readonly #made = new Map<string, Promise<LanguageModel>>()
  /** AI SDK's provider names, by model name. */
  readonly #providers = new Map<string, string>()

  constructor(current: () => ModelChoice, fixed: FixedModelSettings) {
    this.#current = current
    this.#fixed = fixed
  }

  get names(): readonly string[] {
    const { model, assessor = model } = this.#choice()
    return [...new Set([model, assessor])]
  }

  get defaultName(): string {
    return this.#choice().model
  }

  providerOf(name: string): string | undefined {
    return this.#providers.get(name)
  }

  endpointOf(name: string): string | undefined {
    const connection = this.#choice().connectionOf(name)
    return connection.isOfPage ? labelOf(name, connection) : undefined
  }

  async named(name: string, endpoint?: string): Promise<LanguageModel> {
    const model = await this.#make(name, this.#connection(name, endpoint))
    if (typeof model === 'object') this.#providers.set(name, model.provider)
    return model
  }

  async assessorFor(asked: string, endpoint?: string): Promise<Assessor> {
    const { assessor } = this.#choice()
    const name = assessor ?? asked
    const connection = this.#connection(name, assessor === undefined ? endpoint : this.endpointOf(name))
    const model = await this.#make(name, connection)
    return { name, model, isStructured: isStructured(name, connection) }
  }

  #connection(name: string, endpoint: string | undefined): Connection {
    const choice = this.#choice()
    const now = choice.connectionOf(name)
    if (name === DEMO) return now
    if (endpoint === undefined) {
      if (this.names.includes(name)) return now
      throw new UnknownModel(`The model ${name} is not configured. Available: ${this.names.join(', ')}.`, name)
    }
    const kept = this.#kept.get(endpoint)
    // The settings no longer have a former provider's key.
    if (endpoint === labelOf(name, now) && (now.key !== undefined || kept?.key === undefined)) return now
    if (kept) return kept
    throw new ModelChanged(
      `The settings have changed since this turn began: ${name} is not reached any more where it was then. The model is now ${choice.model}.`,
      name,
    )
  }

  #make(name: string, { url, key, mayUseVariable, isOfPage, isLocked }: Connection): Promise<LanguageModel> {
    const id = JSON.stringify([name, url, key, mayUseVariable])
    const made = this.#made.get(id)
    if (made) return made
    const isOnPage = isOfPage && !isLocked
    const { environment = {}, ...fixed } = this.#fixed
    const model = modelFor(name, { ...fixed, url, key, isOnPage, environment: mayUseVariable ? environment : {} })
    this.#made.set(id, model)
    // Failures are not cached.
    model.catch(() => this.#made.delete(id))
    return model
  }

  /** Keeps the connections of the current settings for turns that begin with them. */
  #choice(): ModelChoice {
    const choice = this.#current()
    if (choice === this.#seen) return choice
    this.#seen = choice
    for (const name of new Set([choice.model, choice.assessor ?? choice.model])) {
      const connection = choice.connectionOf(name)
      if (connection.isOfPage) this.#keep(labelOf(name, connection), connection)
    }
    return choice
  }

  #keep(label: string, connection: Connection): void {
    this.#kept.delete(label)
    const [oldest] = this.#kept.keys()
    if (oldest !== undefined && this.#kept.size >= MAX_KEPT) this.#kept.delete(oldest)
    this.#kept.set(label, connection)
  }
}

/** Names an endpoint in the log without showing its URL to agents. */
const labelOf = (name: string, { url }: Connection): string =>
  url === undefined
    ? providerOf(name)
    : `${providerOf(name)}@${createHash('sha256').update(url).digest('hex').slice(0, 12)}`
