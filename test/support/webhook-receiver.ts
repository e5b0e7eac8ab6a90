import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Looks } from './looks.ts'

/** What a webhook received. */
export interface ReceivedNotice {
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly id: string
  readonly type: string
}

/** How a receiver answers the nth request; a number is a status. */
export type Answering = (response: ServerResponse, notice: ReceivedNotice, count: number) => void

/** For tests: a real HTTP server that receives what a webhook is told. */
export class Receiver {
  readonly received: ReceivedNotice[] = []
  /** How many requests were open at most. */
  mostAtOnce = 0
  #open = 0
  #answer: Answering
  readonly #looks = new Looks()
  readonly #server = createServer(async (request, response) => {
    this.#open += 1
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#open)
    response.once('close', () => (this.#open -= 1))
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const { type } = JSON.parse(body) as { type: string }
    const notice = { headers: request.headers, body, id: String(request.headers['webhook-id']), type }
    this.received.push(notice)
    this.#answer(response, notice, this.received.length)
    this.#looks.again()
  })

  constructor(answer: Answering) {
    this.#answer = answer
  }

  static async start(answer: Answering = answering(204)): Promise<Receiver> {
    const receiver = new Receiver(answer)
    receiver.#server.listen(0, '127.0.0.1')
    await once(receiver.#server, 'listening')
    return receiver
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`)
  }

  get ids(): string[] {
    return this.received.map(({ id }) => id)
  }

  answer(answer: Answering): void {
    this.#answer = answer
  }

  /** Resolves once it holds; checked with every request. */
  until(holds: (receiver: this) => boolean): Promise<void> {
    return this.#looks.until(() => holds(this))
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise(resolve => this.#server.close(resolve))
  }
}

/** Answers with this status, always. */
export const answering =
  (status: number, headers: Readonly<Record<string, string>> = {}): Answering =>
  response =>
    void response.writeHead(status, headers).end()
