import { openApiDocument, withOpenApi } from '../../src/server/http/openapi.ts'
import { ROUTES } from '../../src/server/routes/index.ts'

/** What the page reads of a schema in the OpenAPI document. */
interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly string[]
  readonly const?: string | boolean
  readonly format?: string
  readonly description?: string
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly discriminator?: { readonly mapping: Readonly<Record<string, string>> }
}

const DOCUMENT = openApiDocument(withOpenApi(ROUTES, { version: '0' }), { version: '0' })
const SCHEMAS = (DOCUMENT.components?.schemas ?? {}) as Readonly<Record<string, Schema>>

const typesIn = (name: string): string[] => Object.keys(schemaNamed(name).discriminator?.mapping ?? {})
const STORED = typesIn('Event')
const PASSING = typesIn('StreamedEvent').filter(type => !STORED.includes(type))

/** Shapes that several events hold, each with a table of its own. */
const SHAPES = ['Task', 'Policy', 'Review', 'DraftRow', 'Row', 'Changes', 'ToolCall', 'Todo', 'Origin']

const { type: _type, data: _data, ...place } = schemaNamed('TaskCreatedEvent').properties ?? {}
const ENVELOPE = [
  fieldsOf({ properties: place, required: Object.keys(place) }),
  '| `type` | string | one of the types below |',
  '| `data` | object | the fields below |',
].join('\n')

/** The reference page of all events, made from the schemas of the OpenAPI document. */
export function eventReference(): string {
  return [
    '# Events',
    '`npm run docs:events` writes this page from the definitions that the server and the OpenAPI document use.',
    'Everything that happens in a conversation is an event in its log. A stream sends each as a server-sent event: `id` is its `seq`, `event` its `type`, and `data` this object:',
    ENVELOPE,
    'Ignore types and fields that you do not know: newer servers may add some. A field marked `?` may be absent.',
    '## Stored events',
    ...STORED.map(section),
    '## Passing events',
    'These are sent and not stored: they have no `id` and no `seq`.',
    ...PASSING.map(section),
    '## Shapes',
    ...SHAPES.map(name => `### ${name}\n\n${sentence(schemaNamed(name))}\n\n${fieldsOf(schemaNamed(name))}`),
    '',
  ].join('\n\n')
}

function section(type: string): string {
  const name = `${type.replaceAll(/(?:^|_)(\w)/g, (_, first: string) => first.toUpperCase())}Event`
  const { data } = schemaNamed(name).properties ?? {}
  if (!data) throw new TypeError(`${name} has no data`)
  const shape = data.$ref?.split('/').at(-1) ?? ''
  const fields = SHAPES.includes(shape) ? `\`data\` is a ${typeOf(data)}.` : fieldsOf(resolved(data))
  return `### \`${type}\`\n\n${sentence(schemaNamed(name))}\n\n${fields}`
}

function fieldsOf({ properties = {}, required = [] }: Schema): string {
  const { origin, ...own } = properties
  const rows = Object.entries({ ...own, ...(origin && { origin }) }).map(([name, schema]) => {
    const mark = required.includes(name) ? '' : '?'
    return `| \`${name}${mark}\` | ${typeOf(schema)} | ${descriptionOf(name, schema)} |`
  })
  return ['| field | type | what it is |', '| --- | --- | --- |', ...rows].join('\n')
}

function descriptionOf(name: string, schema: Schema): string {
  const { description } = schema
  if (description === undefined) throw new TypeError(`${name} has no description: ${JSON.stringify(schema)}`)
  return description
}

const sentence = ({ description = '' }: Schema): string => (description.endsWith('.') ? description : `${description}.`)

function typeOf(schema: Schema): string {
  const [only] = schema.allOf ?? []
  if (only) return typeOf(only)
  if (schema.$ref !== undefined) return refTo(schema.$ref.split('/').at(-1) ?? '')
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ')
  if (schema.enum) return schema.enum.map(value => `\`${value}\``).join(', ')
  if (schema.const !== undefined) return `\`${schema.const}\``
  if (schema.format === 'date-time') return 'time'
  if (schema.type === 'array') return `list of ${typeOf(schema.items ?? {})}`
  if (schema.type === 'object') return objectType(schema)
  return [schema.type ?? 'any'].flat().join(' or ')
}

function objectType({ properties, additionalProperties }: Schema): string {
  if (properties) return `{ ${Object.keys(properties).join(', ')} }`
  return typeof additionalProperties === 'object' ? `map of ${typeOf(additionalProperties)}` : 'object'
}

const refTo = (name: string): string => (SHAPES.includes(name) ? `[${name}](#${name.toLowerCase()})` : name)

const resolved = (schema: Schema): Schema =>
  schema.$ref === undefined ? schema : schemaNamed(schema.$ref.split('/').at(-1) ?? '')

function schemaNamed(name: string): Schema {
  const schema = SCHEMAS[name]
  if (!schema) throw new TypeError(`the document has no ${name}`)
  return schema
}
