import { Refusal } from '../../core/model/refusal.ts'
import { templateNameProblem, templateOf, type Template } from '../../core/model/template.ts'
import type { SentRow } from '../../core/views/wire.ts'
import { checkTenant, preparedRows, type CheckMaker } from './checks.ts'
import type { Seam } from './storage-health.ts'

export class Templates {
  readonly #store: Seam
  readonly #making: { readonly checks: CheckMaker; readonly newId: () => string }

  constructor(store: Seam, making: { readonly checks: CheckMaker; readonly newId: () => string }) {
    this.#store = store
    this.#making = making
  }

  list(tenant: string): Promise<readonly Template[]> {
    return this.#store.templates.list(tenant)
  }

  get(tenant: string, name: string): Promise<Template | undefined> {
    return this.#store.templates.get(tenant, name)
  }

  /** Validates and saves the rows under the name, replacing existing ones. Throws the refusal if a row is invalid. */
  async save(tenant: string, name: string, rows: readonly SentRow[]): Promise<Template> {
    checkTenant(tenant)
    const template = templateOf(name, preparedRows(rows, [], undefined, this.#making))
    if (template instanceof Refusal) throw template
    await this.#store.templates.put(tenant, template)
    return template
  }

  /** Renames a template unless the new name is taken. Throws the refusal if the name is invalid. */
  async rename(tenant: string, name: string, to: string): Promise<Template | 'unknown' | 'taken'> {
    const wrong = templateNameProblem(to)
    if (wrong) throw wrong
    const outcome = name === to ? 'renamed' : await this.#store.templates.rename(tenant, name, to)
    if (outcome !== 'renamed') return outcome
    return (await this.get(tenant, to)) ?? 'unknown'
  }

  delete(tenant: string, name: string): Promise<boolean> {
    return this.#store.templates.delete(tenant, name)
  }
}
