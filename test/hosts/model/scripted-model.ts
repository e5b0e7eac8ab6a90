import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ModelAnswer, ModelApi, ModelRequest, Written } from './model.ts'

/** What the model answers to a request of a conversation. */
export type ModelScript = (request: ModelRequest) => ModelAnswer | Promise<ModelAnswer>

/** A model on loopback that follows a script, for one host. */
export class ScriptedModel {
  /** The requests of conversations with what was answered, oldest first. */
  readonly asked: { readonly request: ModelRequest; readonly answer: ModelAnswer }[] = []
  script: ModelScript = () => ({ text: 'Nothing was scripted.' })
  readonly #api: ModelApi
  readonly #server = createServer((request, response) => {
    this.#handle(request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500)
      response.end(String(error))
    })
  })

  private constructor(api: ModelApi) {
    this.#api = api
  }

  static async start(api: ModelApi): Promise<ScriptedModel> {
    const model = new ScriptedModel(api)
    model.#server.listen(0, '127.0.0.1')
    await once(model.#server, 'listening')
    return model
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Every text that the host told the model. */
  get heard(): readonly string[] {
    return this.asked.flatMap(({ request }) => request.said)
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise(resolve => this.#server.close(resolve))
  }

  async #handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of message) chunks.push(chunk as Buffer)
    const { url: path = '' } = message
    if (!this.#api.asks(path)) {
      const other = this.#api.other(path)
      response.writeHead(other === undefined ? 404 : 200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(other ?? { error: { message: 'not scripted' } }))
      return
    }
    const body = JSON.parse(Buffer.concat(chunks).toString()) as never
    send(response, this.#api.write(await this.#answer(body), body, path))
  }

  async #answer(body: never): Promise<ModelAnswer> {
    const text = this.#api.aside(body)
    if (text !== undefined) return { text }
    const request = this.#api.read(body)
    const answer = await this.script(request)
    this.asked.push({ request, answer })
    return answer
  }
}

function send(response: ServerResponse, written: Written): void {
  const type = 'json' in written ? 'application/json' : 'text/event-stream'
  response.writeHead(200, { 'content-type': type, 'cache-control': 'no-cache' })
  if ('json' in written) return void response.end(JSON.stringify(written.json))
  for (const { event, data } of written.events) {
    const text = typeof data === 'string' ? data : JSON.stringify(data)
    response.write(`${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`)
  }
  response.end()
}
