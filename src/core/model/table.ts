const FEW_BUCKETS = 8
const MANY_BUCKETS = 256
/** Entries that fit into few buckets. Most lists are short. */
const MAX_IN_FEW_BUCKETS = 128

/** New values of some fields, or a function of the entry that gives them. */
export type Change<V> = Partial<V> | ((value: V) => Partial<V>)

type Bucket<V> = ReadonlyMap<string, V>

/** An immutable map. A change copies one bucket, which is cheap even in a list of 25,000 tasks. */
export class Table<V> {
  readonly size: number
  readonly #buckets: readonly (Bucket<V> | undefined)[]
  #record: TableRecord<V> | undefined

  private constructor(buckets: readonly (Bucket<V> | undefined)[], size: number) {
    this.#buckets = buckets
    this.size = size
  }

  static from<V>(entries: Iterable<readonly [string, V]> = []): Table<V> {
    return Table.#of(new Map(entries))
  }

  static fromRecord<V>(record: TableRecord<V>): Table<V> {
    return Table.#of(Object.entries(record))
  }

  static #of<V>(entries: ReadonlyMap<string, V> | readonly (readonly [string, V])[]): Table<V> {
    const size = 'size' in entries ? entries.size : entries.length
    const count = size > MAX_IN_FEW_BUCKETS ? MANY_BUCKETS : FEW_BUCKETS
    const buckets: (Map<string, V> | undefined)[] = Array.from({ length: count })
    for (const [key, value] of entries) (buckets[bucketOf(key, count)] ??= new Map()).set(key, value)
    return new Table(buckets, size)
  }

  get(key: string): V | undefined {
    return this.#buckets[bucketOf(key, this.#buckets.length)]?.get(key)
  }

  has(key: string): boolean {
    return this.#buckets[bucketOf(key, this.#buckets.length)]?.has(key) ?? false
  }

  with(key: string, value: V): Table<V> {
    const at = bucketOf(key, this.#buckets.length)
    const old = this.#buckets[at]
    const size = old?.has(key) ? this.size : this.size + 1
    if (size > MAX_IN_FEW_BUCKETS && this.#buckets.length === FEW_BUCKETS)
      return Table.from([...this.entries(), [key, value]])
    return this.#replaced(at, new Map(old).set(key, value), size)
  }

  /** Changes fields of an entry, if there is one. */
  changed(key: string, change: Change<V>): Table<V> {
    const value = this.get(key)
    if (value === undefined) return this
    return this.with(key, { ...value, ...(typeof change === 'function' ? change(value) : change) })
  }

  without(key: string): Table<V> {
    if (!this.has(key)) return this
    const at = bucketOf(key, this.#buckets.length)
    const bucket = new Map(this.#buckets[at])
    bucket.delete(key)
    return this.#replaced(at, bucket, this.size - 1)
  }

  *entries(): IterableIterator<readonly [string, V]> {
    for (const bucket of this.#buckets) if (bucket) yield* bucket
  }

  *values(): IterableIterator<V> {
    for (const bucket of this.#buckets) if (bucket) yield* bucket.values()
  }

  /** Cached, because a table never changes. */
  toRecord(): TableRecord<V> {
    return (this.#record ??= this.#plain())
  }

  #plain(): TableRecord<V> {
    // No prototype, so that keys such as `constructor` are plain entries.
    const record = Object.create(null) as Record<string, V>
    for (const bucket of this.#buckets) if (bucket) for (const [key, value] of bucket) record[key] = value
    return record
  }

  #replaced(at: number, bucket: Bucket<V>, size: number): Table<V> {
    const buckets = this.#buckets.slice()
    buckets[at] = bucket
    return new Table(buckets, size)
  }
}

export type TableRecord<V> = { readonly [key: string]: V }

/** Either form of a table, for reading. */
export type Keyed<V> = Table<V> | TableRecord<V>

export function valueIn<V>(keyed: Keyed<V>, key: string): V | undefined {
  if (keyed instanceof Table) return keyed.get(key)
  return Object.hasOwn(keyed, key) ? keyed[key] : undefined
}

export const valuesIn = <V>(keyed: Keyed<V>): Iterable<V> =>
  keyed instanceof Table ? keyed.values() : Object.values(keyed)

/** Hashes the end of the key, where UUIDv7s and counted names differ most. */
function bucketOf(key: string, count: number): number {
  let hash = 0
  for (let i = Math.max(0, key.length - 8); i < key.length; i += 1) hash = (hash * 31 + key.charCodeAt(i)) & 0xffff
  return hash % count
}
