import { connect, type Socket } from 'node:net'
import { busyMeter, nowMs, serveParent, startedWith } from './server-process.ts'
import type { Listening } from './server-host.ts'

// Agents that call one tool after another, each over its own connection, in a separate process. Plain sockets keep the
// callers cheap, because only the server is measured.
const { port, token } = startedWith() as Listening
const TASKS_EACH = 50

let conversations = 0

class Caller {
  readonly #socket: Socket
  #answered = Promise.withResolvers<void>()
  #received = ''
  #conversation = ''
  #made = 0

  constructor() {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.#socket.setEncoding('latin1')
    this.#socket.on('data', chunk => this.#take(String(chunk)))
    this.#socket.on('error', error => this.#answered.reject(error))
  }

  async call(): Promise<void> {
    if (this.#made % TASKS_EACH === 0) this.#conversation = `calls-${(conversations += 1)}`
    this.#made += 1
    const body = JSON.stringify({
      session_id: this.#conversation,
      turn_id: 't1',
      arguments: { title: `Step ${this.#made}: look at the reports`, description: 'The quarterly ones.' },
    })
    this.#answered = Promise.withResolvers()
    this.#socket.write(
      `POST /api/toolsets/task_list/tools/AddTask HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n` +
        `Authorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    await this.#answered.promise
  }

  #take(chunk: string): void {
    this.#received += chunk
    const end = this.#received.indexOf('\r\n\r\n')
    if (end === -1) return
    const [, length = '0'] = /content-length: (\d+)/i.exec(this.#received.slice(0, end)) ?? []
    if (this.#received.length < end + 4 + Number(length)) return
    if (!this.#received.startsWith('HTTP/1.1 200') || !this.#received.includes('"done":false')) {
      this.#answered.reject(new Error(this.#received))
    }
    this.#received = ''
    this.#answered.resolve()
  }

  end(): void {
    this.#socket.destroy()
  }
}

const busy = busyMeter()

serveParent({
  calls: async ({ connections, count }: { connections: number; count: number }) => {
    const callers = Array.from({ length: connections }, () => new Caller())
    await Promise.all(callers.map(caller => caller.call()))
    let left = count
    busy()
    const start = nowMs()
    await Promise.all(
      callers.map(async caller => {
        while (left > 0) {
          left -= 1
          await caller.call()
        }
      }),
    )
    const rate = (count / (nowMs() - start)) * 1_000
    for (const caller of callers) caller.end()
    return { rate, busy: busy() }
  },
})
