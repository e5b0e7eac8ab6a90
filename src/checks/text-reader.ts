import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

const MAX_BYTES = 200_000

export class TextReader {
  readonly #texts = new Map<string, string | undefined>()
  readonly #objects = new Map<string, Readonly<Record<string, unknown>>>()
  readonly #folders = new Map<string, readonly string[]>()

  text(file: string): string | undefined {
    if (!this.#texts.has(file)) this.#texts.set(file, textOf(file))
    return this.#texts.get(file)
  }

  object(file: string): Readonly<Record<string, unknown>> {
    const known = this.#objects.get(file)
    if (known) return known
    const object = objectOf(this.text(file) ?? '{}')
    this.#objects.set(file, object)
    return object
  }

  entries(folder: string): readonly string[] {
    const known = this.#folders.get(folder)
    if (known) return known
    const entries = entriesOf(folder)
    this.#folders.set(folder, entries)
    return entries
  }
}

function textOf(file: string): string | undefined {
  try {
    const stats = statSync(file)
    return stats.isFile() && stats.size <= MAX_BYTES ? readFileSync(file, 'utf8') : undefined
  } catch {
    // Missing or unreadable, in which case its program cannot read it either.
    return undefined
  }
}

function objectOf(json: string): Readonly<Record<string, unknown>> {
  try {
    return { ...(JSON.parse(json) as object | null) }
  } catch {
    return {}
  }
}

function entriesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder).map(name => join(folder, name))
  } catch {
    return []
  }
}
