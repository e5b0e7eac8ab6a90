import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Client, createClient } from '../../src/client/client.ts'
import type { StoredEvent } from '../../src/core/model/event.ts'
import type { ReviewRequest } from '../../src/core/model/review.ts'
import type { TaskView, WaitingDispute } from '../../src/core/views/wire.ts'
import { openBrowser } from '../support/browser.ts'

const POLL_MS = 100

/** A person who reviews plans on the page of a data folder, through the typed client. */
export class Person {
  readonly #data: string
  readonly #seen = new Set<string>()

  constructor(data: string) {
    this.#data = data
  }

  /** What the page's server says of itself; undefined while there is none. */
  get server(): { readonly pid: number; readonly local: string } | undefined {
    const file = join(this.#data, 'server.json')
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { pid: number; local: string }) : undefined
  }

  get client(): Client {
    const { server } = this
    if (!server) throw new Error(`no page serves ${this.#data}`)
    return createClient({ url: server.local, token: readFileSync(join(this.#data, 'person-token'), 'utf8').trim() })
  }

  /** The next review that this person has not seen yet. */
  async review(signal: AbortSignal): Promise<ReviewRequest> {
    for (;;) {
      const { reviews } = await this.client.pendingReviews()
      const review = reviews.find(({ review_id }) => !this.#seen.has(review_id))
      if (review) {
        this.#seen.add(review.review_id)
        return review
      }
      await delay(POLL_MS, undefined, { signal })
    }
  }

  /** The task that an agent disputes first. */
  async dispute(signal: AbortSignal): Promise<WaitingDispute> {
    for (;;) {
      const [dispute] = (await this.client.pendingReviews(undefined, { approvals: true })).disputes ?? []
      if (dispute) return dispute
      await delay(POLL_MS, undefined, { signal })
    }
  }

  /** Answers a dispute on the page: rewrites the check of a step. */
  async changesCheck(session: string, title: string, from: string, to: string): Promise<void> {
    const { code } = await this.client.loginCode()
    const browser = await openBrowser()
    try {
      const page = await browser.newPage()
      await page.goto(`${this.server?.local ?? ''}?chat=${session}#code=${code}`)
      await page.getByRole('button', { name: `Change the check: ${title}` }).click()
      await page.getByRole('button', { name: `Edit: ${from}` }).click()
      await page.getByRole('textbox', { name: `Edit: ${from}` }).fill(to)
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: `Edit: ${to}` }).waitFor()
    } finally {
      await browser.close()
    }
  }

  confirm({ review_id, draft_tasks }: ReviewRequest): Promise<unknown> {
    const tasks = draft_tasks.map(({ checks = [] }, draft_index) => ({
      draft_index,
      approve: checks.map(({ hash }) => hash),
    }))
    return this.client.decide(review_id, { action: 'confirm', tasks })
  }

  /** Rewords the first row, removes the second, adds one at the end, and says a word. */
  edit({ review_id, draft_tasks }: ReviewRequest): Promise<unknown> {
    const [first, , ...rest] = draft_tasks.map((_, draft_index) => ({ draft_index }))
    const title = `${draft_tasks[0]?.title ?? ''} of May`
    const tasks = [{ ...first, title }, ...rest, { title: 'Send it to Ann' }]
    return this.client.decide(review_id, { action: 'confirm', tasks, comment: 'Two pages, please.' })
  }

  reject({ review_id }: ReviewRequest): Promise<unknown> {
    return this.client.decide(review_id, { action: 'cancel' })
  }

  /** The conversations with their tasks, newest first. */
  async plans(): Promise<readonly Plan[]> {
    const { client } = this
    const { sessions } = await client.sessions()
    return Promise.all(
      sessions.map(async ({ session_id, title, seq }) => ({
        session: session_id,
        title: title ?? '',
        tasks: (await client.tasks(session_id)).tasks,
        events: await Promise.all(Array.from({ length: seq }, (_, index) => client.event(session_id, index + 1))),
      })),
    )
  }
}

/** What a person sees of a conversation, and its log. */
export interface Plan {
  readonly session: string
  readonly title: string
  readonly tasks: readonly TaskView[]
  readonly events: readonly StoredEvent[]
}

/** A plan in one line for each task. */
export const outline = ({ tasks }: Plan): readonly string[] =>
  tasks.map(({ number, title, status }) => `${number} ${title}: ${status}`)
