import { type ModelApi, type ModelRequest, newId, type ToolResult } from './model.ts'

interface Body {
  readonly systemInstruction?: { readonly parts?: readonly Part[] }
  readonly contents: readonly { readonly role?: string; readonly parts?: readonly Part[] }[]
  readonly tools?: readonly { readonly functionDeclarations?: readonly { readonly name: string }[] }[]
  readonly generationConfig?: { readonly responseJsonSchema?: Schema; readonly responseSchema?: Schema }
}
interface Part {
  readonly text?: string
  readonly functionCall?: { readonly id?: string; readonly name: string; readonly args: unknown }
  readonly functionResponse?: { readonly id?: string; readonly name: string; readonly response: unknown }
}
interface Schema {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
}

const USAGE = { promptTokenCount: 100, candidatesTokenCount: 10, totalTokenCount: 110 }

/** Gemini's generateContent, as Gemini CLI speaks it. */
export const gemini: ModelApi = {
  asks: path => /:(stream)?generateContent/i.test(path),
  other: path => (path.includes(':countTokens') ? { totalTokens: 100 } : undefined),
  // Which model to use, who speaks next, whether it runs in circles: all want JSON of a schema.
  aside: ({ generationConfig = {} }: Body) => {
    const schema = generationConfig.responseJsonSchema ?? generationConfig.responseSchema
    return schema && JSON.stringify(exampleOf(schema))
  },
  read,
  write: (answer, _, path) => {
    const part =
      'call' in answer
        ? { functionCall: { id: newId('call'), name: answer.call.name, args: answer.call.arguments } }
        : { text: answer.text }
    const candidates = [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }]
    const data = { candidates, usageMetadata: USAGE, modelVersion: 'fake', responseId: newId('resp') }
    return path.includes(':stream') ? { events: [{ data }] } : { json: data }
  },
}

function read({ systemInstruction, contents, tools = [] }: Body): ModelRequest {
  const called = new Map<string, unknown>()
  const results: ToolResult[] = []
  const said = (systemInstruction?.parts ?? []).map(({ text = '' }) => text)
  for (const { role, parts = [] } of contents) {
    for (const { text, functionCall, functionResponse } of parts) {
      if (functionCall) called.set(functionCall.id ?? functionCall.name, functionCall.args)
      if (functionResponse) {
        const { id, name, response } = functionResponse
        results.push({ name, arguments: called.get(id ?? name), text: shown(response) })
      }
      if (text !== undefined && role !== 'model') said.push(text)
    }
  }
  return { tools: tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations), results, said }
}

function shown(response: unknown): string {
  const { output } = (response ?? {}) as { readonly output?: unknown }
  return typeof output === 'string' ? output : JSON.stringify(response)
}

function exampleOf(schema: Schema): unknown {
  if (schema.enum) return schema.enum.includes('user') ? 'user' : schema.enum.at(-1)
  switch (schema.type?.toLowerCase()) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, property]) => [name, exampleOf(property)]),
      )
    case 'array':
      return []
    case 'number':
    case 'integer':
      return 0
    case 'boolean':
      return false
    default:
      return 'fake'
  }
}
