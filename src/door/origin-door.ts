import type { Command } from '../domain/command.ts'
import type { Conversation } from '../domain/conversation.ts'
import type { Instant } from '../domain/instant.ts'
import type { Origin } from '../domain/origin.ts'
import type { Commit } from '../store/commit.ts'
import type { At, Committed, Hint, LiveEntry, Ref } from '../store/store.ts'
import type { Companion, Door, EventObserver, ObservedCall, Observer, TailOptions } from './door.ts'
import type { DoorReviews } from './reviews.ts'
import type { StorageObserver } from './storage-health.ts'
import type { StoreDoor } from './store-door.ts'
import type { Transaction } from './transaction.ts'

/** The door for one origin, which decisions through it are recorded with. All else is the door's own. */
export class OriginDoor implements Door {
  readonly reviews: DoorReviews
  readonly #door: StoreDoor
  readonly #origin: Origin

  constructor(door: StoreDoor, origin: Origin) {
    this.#door = door
    this.#origin = origin
    this.reviews = door.reviews.through(this)
  }

  get newId(): Door['newId'] {
    return this.#door.newId
  }

  get checks(): Door['checks'] {
    return this.#door.checks
  }

  get conversations(): Door['conversations'] {
    return this.#door.conversations
  }

  get search(): Door['search'] {
    return this.#door.search
  }

  get templates(): Door['templates'] {
    return this.#door.templates
  }

  get turns(): Door['turns'] {
    return this.#door.turns
  }

  get liveText(): Door['liveText'] {
    return this.#door.liveText
  }

  get notices(): Door['notices'] {
    return this.#door.notices
  }

  from(origin: Origin): Door {
    return this.#door.from(origin)
  }

  run(at: At, ...commands: readonly Command[]): Promise<Committed<null>> {
    return this.#door.run({ ...at, origin: this.#origin }, ...commands)
  }

  transact<T>(at: At, work: (transaction: Transaction) => T): Promise<Committed<T>> {
    return this.#door.transact({ ...at, origin: this.#origin }, work)
  }

  read(ref: Ref, need?: 'list'): Promise<Conversation> {
    return this.#door.read(ref, need)
  }

  tail(ref: Ref, options?: TailOptions): AsyncIterable<Commit> {
    return this.#door.tail(ref, options)
  }

  texts(ref: Ref, options?: { readonly signal?: AbortSignal }): AsyncIterable<LiveEntry> {
    return this.#door.texts(ref, options)
  }

  changes(signal: AbortSignal): AsyncIterable<Hint> {
    return this.#door.changes(signal)
  }

  now(): Promise<Instant> {
    return this.#door.now()
  }

  observeStorage(observer: StorageObserver): () => void {
    return this.#door.observeStorage(observer)
  }

  ready(): Promise<void> {
    return this.#door.ready()
  }

  observe(observer: Observer): () => void {
    return this.#door.observe(observer)
  }

  observeEvents(observer: EventObserver, options?: { readonly others?: boolean }): () => void {
    return this.#door.observeEvents(observer, options)
  }

  accompany(companion: Companion): () => void {
    return this.#door.accompany(companion)
  }

  observed(call: ObservedCall): void {
    this.#door.observed(call)
  }

  servesPage(): void {
    this.#door.servesPage()
  }

  hasPage(): boolean {
    return this.#door.hasPage()
  }

  close(): Promise<void> {
    return this.#door.close()
  }
}
