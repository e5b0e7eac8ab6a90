import {
  completable,
  type ContentBlock,
  type ElicitRequestFormParams,
  fromJsonSchema,
  type McpRequestContext,
  type McpServer,
  type RequestStateCodec,
  ResourceTemplate,
  type ServerNotifier,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import { addRounds, type RoundState, said, text } from './mcp-conformance-rounds.ts'

export interface FixtureOptions {
  readonly era: McpRequestContext['era']
  /** Seals the state of a call with several rounds; the server under test verifies it. */
  readonly codec: Pick<RequestStateCodec<RoundState>, 'mint'>
  /** Notifies subscribers that a list changed. */
  readonly notify: Pick<ServerNotifier, 'toolsChanged' | 'promptsChanged'>
}

/**
 * For tests: the tools, resources and prompts that the conformance suite asks for by name. They are added to one of our
 * servers from outside; the product knows nothing of them.
 */
export function addFixtures(server: McpServer, options: FixtureOptions): void {
  server.server.registerCapabilities({ logging: {} })
  addContentTools(server)
  addWorkingTools(server)
  addSchemaTools(server)
  addResources(server)
  addPrompts(server)
  if (options.era === 'legacy') {
    addAskingTools(server)
    addSubscriptions(server)
  } else {
    addListChanges(server, options.notify)
    addRounds(server, options.codec)
  }
}

/** The suite requires them; Runsheet itself offers none. */
function addSubscriptions({ server }: McpServer): void {
  server.registerCapabilities({ resources: { subscribe: true } })
  for (const method of ['resources/subscribe', 'resources/unsubscribe'] as const) {
    server.setRequestHandler(method, () => ({}))
  }
}

function addContentTools(server: McpServer): void {
  const embedded = { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'An embedded resource.' }
  const mixed = { uri: 'test://mixed-content-resource', mimeType: 'application/json', text: '{"test":"data"}' }
  const contents = {
    test_simple_text: [text('A simple text.')],
    test_image_content: [IMAGE],
    test_audio_content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }],
    test_embedded_resource: [{ type: 'resource', resource: embedded }],
    test_multiple_content_types: [text('Several kinds of content.'), IMAGE, { type: 'resource', resource: mixed }],
  } as const
  for (const [name, content] of Object.entries(contents)) {
    server.registerTool(name, { description: 'Answers with fixed content.' }, async () => ({ content: [...content] }))
  }
}

function addWorkingTools(server: McpServer): void {
  server.registerTool('test_error_handling', { description: 'Fails.' }, async () => {
    throw new Error('This tool fails, as it should.')
  })
  server.registerTool('test_tool_with_progress', { description: 'Tells how far it is.' }, async ctx => {
    const progressToken = ctx.mcpReq._meta?.progressToken
    for (const progress of progressToken === undefined ? [] : [0, 50, 100]) {
      await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } })
    }
    return said('done')
  })
  // Two scenarios ask for the same under two names: once with a level set, and once without, where nothing may be logged.
  for (const name of ['test_tool_with_logging', 'test_logging_tool']) {
    server.registerTool(name, { description: 'Logs what it does.' }, async ctx => {
      for (const step of ['started', 'working', 'finished']) {
        await ctx.mcpReq.log('info', step)
      }
      return said('done')
    })
  }
}

/** Not scored: shows whether schemas pass the endpoint unchanged, and whether headers are checked against arguments. */
function addSchemaTools(server: McpServer): void {
  const schema = fromJsonSchema({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: {
      address: {
        $anchor: 'addressDef',
        type: 'object',
        properties: { street: { type: 'string' }, city: { type: 'string' } },
      },
    },
    properties: {
      name: { type: 'string' },
      address: { $ref: '#/$defs/address' },
      contactMethod: { type: 'string', enum: ['phone', 'email'] },
      phone: { type: 'string' },
      email: { type: 'string' },
    },
    allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
    if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
    // oxlint-disable-next-line unicorn/no-thenable -- a word of JSON Schema
    then: { required: ['phone'] },
    else: { required: ['email'] },
    additionalProperties: false,
  })
  server.registerTool(
    'json_schema_2020_12_tool',
    { description: 'Has a schema with much of JSON Schema 2020-12 in it.', inputSchema: schema },
    async () => said('done'),
  )
  server.registerTool(
    'test_custom_header',
    {
      description: 'Has an argument that goes into a header, too.',
      inputSchema: z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) }),
    },
    async ({ region }) => said(region),
  )
}

function addResources(server: McpServer): void {
  const about = (description: string, mimeType: string) => ({ description, mimeType })
  server.registerResource(
    'static-text',
    'test://static-text',
    about('A text.', 'text/plain'),
    async ({ href: uri }) => ({
      contents: [{ uri, mimeType: 'text/plain', text: 'The text of a resource.' }],
    }),
  )
  server.registerResource(
    'static-binary',
    'test://static-binary',
    about('An image.', 'image/png'),
    async ({ href: uri }) => ({ contents: [{ uri, mimeType: 'image/png', blob: PNG }] }),
  )
  server.registerResource(
    'watched',
    'test://watched-resource',
    about('One to subscribe to.', 'text/plain'),
    async ({ href: uri }) => ({ contents: [{ uri, mimeType: 'text/plain', text: 'Watched.' }] }),
  )
  server.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    about('Data by id.', 'application/json'),
    async ({ href: uri }, { id }) => ({
      contents: [{ uri, mimeType: 'application/json', text: JSON.stringify({ id }) }],
    }),
  )
}

function addPrompts(server: McpServer): void {
  const user = (...contents: ContentBlock[]) => ({
    messages: contents.map(content => ({ role: 'user' as const, content })),
  })
  server.registerPrompt('test_simple_prompt', { description: 'A text.' }, async () => user(text('A simple prompt.')))
  server.registerPrompt('test_prompt_with_image', { description: 'An image and a text.' }, async () =>
    user(IMAGE, text('Look at the image.')),
  )
  const suggested = completable(z.string(), value => ['test', 'test value'].filter(known => known.startsWith(value)))
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'Both arguments.', argsSchema: z.object({ arg1: suggested, arg2: z.string() }) },
    async ({ arg1, arg2 }) => user(text(`arg1='${arg1}', arg2='${arg2}'`)),
  )
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'A resource and a text.', argsSchema: z.object({ resourceUri: z.string() }) },
    async ({ resourceUri: uri }) =>
      user(
        { type: 'resource' as const, resource: { uri, mimeType: 'text/plain', text: 'An embedded resource.' } },
        text('Work with the resource.'),
      ),
  )
}

/** Up to 2025-11-25 a server asks its client during the call. */
function addAskingTools(server: McpServer): void {
  server.registerTool(
    'test_sampling',
    { description: "Asks the client's model.", inputSchema: z.object({ prompt: z.string() }) },
    async ({ prompt }, ctx) => {
      const asked = { role: 'user' as const, content: text(prompt) }
      const { content } = await ctx.mcpReq.requestSampling({ messages: [asked], maxTokens: 100 })
      return said(JSON.stringify(content))
    },
  )
  const string = { type: 'string' as const }
  server.registerTool(
    'test_elicitation',
    { description: 'Asks the user.', inputSchema: z.object({ message: z.string() }) },
    async ({ message }, ctx) => {
      const properties = { username: string, email: string }
      const requestedSchema = { type: 'object' as const, properties, required: ['username', 'email'] }
      return said(JSON.stringify(await ctx.mcpReq.elicitInput({ mode: 'form', message, requestedSchema })))
    },
  )
  const forms = {
    test_elicitation_sep1034_defaults: {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    },
    test_elicitation_sep1330_enums: {
      untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
      titledSingle: { type: 'string', oneOf: titled('value1', 'value2', 'value3') },
      legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['One', 'Two', 'Three'] },
      untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
      titledMulti: { type: 'array', items: { anyOf: titled('value1', 'value2', 'value3') } },
    },
  } satisfies Record<string, Form>
  for (const [name, properties] of Object.entries<Form>(forms)) {
    server.registerTool(name, { description: 'Asks the user with a form.' }, async ctx => {
      const requestedSchema = { type: 'object' as const, properties }
      return said(
        JSON.stringify(await ctx.mcpReq.elicitInput({ mode: 'form', message: 'Fill this in.', requestedSchema })),
      )
    })
  }
}

/** Each request has its own server, so changes go to subscribers only. */
function addListChanges(server: McpServer, notify: FixtureOptions['notify']): void {
  server.registerTool('test_trigger_tool_change', { description: 'Says that the tools changed.' }, async () => {
    notify.toolsChanged()
    return said('told')
  })
  server.registerTool('test_trigger_prompt_change', { description: 'Says that the prompts changed.' }, async () => {
    notify.promptsChanged()
    return said('told')
  })
}

type Form = ElicitRequestFormParams['requestedSchema']['properties']

const titled = (...values: string[]) => values.map(value => ({ const: value, title: `The ${value}` }))

/** A grey pixel, and a moment of silence. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=='
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA=='
const IMAGE = { type: 'image', data: PNG, mimeType: 'image/png' } as const
