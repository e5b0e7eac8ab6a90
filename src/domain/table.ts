/** Few buckets for the many short lists; many for the few long ones. */
const NARROW = 8
const WIDE = 256
const LONG = 128

type Bucket<V> = ReadonlyMap<string, V>

/**
 * An immutable map whose change costs the same in a short conversation and in one with 25,000 tasks:
 * it copies one of several small maps and the list that points at them.
 */
export class Table<V> {
  readonly size: number
  readonly #buckets: readonly (Bucket<V> | undefined)[]

  private constructor(buckets: readonly (Bucket<V> | undefined)[], size: number) {
    this.#buckets = buckets
    this.size = size
  }

  static from<V>(entries: Iterable<readonly [string, V]> = []): Table<V> {
    const values = new Map(entries)
    const width = values.size > LONG ? WIDE : NARROW
    const buckets: (Map<string, V> | undefined)[] = Array.from({ length: width })
    for (const [key, value] of values) (buckets[slot(key, width)] ??= new Map()).set(key, value)
    return new Table(buckets, values.size)
  }

  get(key: string): V | undefined {
    return this.#buckets[slot(key, this.#buckets.length)]?.get(key)
  }

  has(key: string): boolean {
    return this.#buckets[slot(key, this.#buckets.length)]?.has(key) ?? false
  }

  with(key: string, value: V): Table<V> {
    const at = slot(key, this.#buckets.length)
    const old = this.#buckets[at]
    const size = old?.has(key) ? this.size : this.size + 1
    if (size > LONG && this.#buckets.length === NARROW) return Table.from([...this.entries(), [key, value]])
    return this.#replaced(at, new Map(old).set(key, value), size)
  }

  without(key: string): Table<V> {
    if (!this.has(key)) return this
    const at = slot(key, this.#buckets.length)
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

  #replaced(at: number, bucket: Bucket<V>, size: number): Table<V> {
    const buckets = this.#buckets.slice()
    buckets[at] = bucket
    return new Table(buckets, size)
  }
}

/** The tail of a key is what differs most, in UUIDv7s and in counted names alike. */
function slot(key: string, width: number): number {
  let hash = 0
  for (let i = Math.max(0, key.length - 8); i < key.length; i += 1) hash = (hash * 31 + key.charCodeAt(i)) & 0xffff
  return hash % width
}
