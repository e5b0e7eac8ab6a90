import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isPropertySignatureDeclaration } from 'typescript/unstable/ast/is'
import { API, type Checker, type Symbol, SymbolFlags, type Type, TypeFlags } from 'typescript/unstable/sync'

interface Schema {
  readonly [keyword: string]: unknown
}
type Symbols = ReadonlyMap<string, Symbol>

// Writes src/server/http/shapes.json from the types of events and answers. Runs after an install and before each build and
// test run.

interface Shapes {
  readonly components: Readonly<Record<string, Schema>>
  readonly answers: Readonly<Record<string, Schema>>
}

const NAMES: Readonly<Record<string, string>> = {
  Changes: 'Changes',
  Check: 'Check',
  CheckView: 'CheckView',
  ClaimView: 'Claim',
  ConversationSnapshot: 'ConversationSnapshot',
  DraftRow: 'DraftRow',
  EvidenceView: 'Evidence',
  Json: 'Json',
  Mark: 'Mark',
  Message: 'Message',
  Origin: 'Origin',
  Policy: 'Policy',
  QueuedMessage: 'QueuedMessage',
  Resolution: 'Resolution',
  ReviewRequest: 'Review',
  Row: 'Row',
  RowComment: 'RowComment',
  Session: 'Session',
  SettingsAnswer: 'Settings',
  StoredEvent: 'Event',
  Task: 'Task',
  TaskView: 'TaskView',
  Template: 'Template',
  Todo: 'Todo',
  ToolApproval: 'ToolApproval',
  ToolCallRecord: 'ToolCall',
  ToolsAnswer: 'Tools',
  TryAnswer: 'TriedModel',
  TurnView: 'Turn',
  VerdictView: 'Verdict',
  View: 'View',
}
const ANSWERS: ReadonlySet<string> = new Set([
  'AnsweredCall',
  'CheckingCall',
  'EvidenceAdded',
  'PendingCall',
  'WaitingCall',
])
const FRACTIONS: ReadonlySet<string> = new Set(['duration_ms', 'last_position', 'order', 'position'])
/** Default descriptions for fields whose type has none. */
const COMMON: Readonly<Record<string, string>> = {
  check_id: 'the check',
  claim_id: 'the claim',
  message_id: 'the message',
  plan_id: 'the plan: the id of the turn that began it',
  review_id: 'the review',
  run_id: 'the run',
  session_id: 'the conversation',
  task_id: 'the task',
  tool_call_id: 'the call, unique in its turn',
  turn_id: 'the turn',
}

const INTEGER = { type: 'integer' }
const DATE_TIME = { type: 'string', format: 'date-time' }
const JSON_VALUE = {
  anyOf: [
    { type: 'string' },
    { type: 'number' },
    { type: 'boolean' },
    { type: 'null' },
    { type: 'array', items: { $ref: '#/components/schemas/Json' } },
    { type: 'object', additionalProperties: { $ref: '#/components/schemas/Json' } },
  ],
}

/**
 * Derives the schemas of all events and answers from their types. The first paragraph of a doc comment becomes the
 * description.
 */
function shapes(): Shapes {
  const root = fileURLToPath(new URL('../', import.meta.url))
  const api = new API({ cwd: root })
  try {
    const [project] = api.updateSnapshot({ openProjects: [`${root}tsconfig.build.json`] }).getProjects()
    if (!project) throw new TypeError('tsconfig.build.json is no project')
    const { checker, program } = project
    const exportsOf = (file: string): Symbols => {
      const source = program.getSourceFile(root + file)
      const module = source && checker.getSymbolAtLocation(source)
      if (!module) throw new TypeError(`there is no ${file}`)
      return new Map(checker.getExportsOfModule(module).map(each => [each.name, each]))
    }
    return read(checker, exportsOf('src/core/model/event.ts'), exportsOf('src/core/views/wire.ts'))
  } finally {
    api.close()
  }
}

function read(checker: Checker, events: Symbols, wire: Symbols): Shapes {
  const components: Record<string, Schema> = {}
  const stored = eventsOf('EventData', 'StoredEvent', events)
  const sent = [...stored, ...eventsOf('TransientEventData', 'TransientEvent', wire)]
  components['Event'] = eventUnion(stored, EVENT)
  components['StreamedEvent'] = eventUnion(sent, STREAMED)
  components['Error'] = {
    type: 'object',
    properties: { error: schemaOf(declared(wire, 'ErrorBody')) },
    required: ['error'],
    additionalProperties: false,
  }
  for (const name of Object.keys(NAMES)) if (wire.has(name)) schemaOf(declared(wire, name))
  const answers = [...wire.keys()].filter(name => ANSWERS.has(name) || (name.endsWith('Answer') && !(name in NAMES)))
  return { components, answers: Object.fromEntries(answers.map(name => [name, schemaOf(declared(wire, name))])) }

  function eventsOf(
    table: string,
    union: string,
    symbols: Symbols,
  ): readonly (readonly [type: string, name: string])[] {
    const envelope = propertiesOf(membersOf(declared(symbols, union))[0])
    return propertiesOf(declared(symbols, table)).map(data => {
      const name = `${data.name.replaceAll(/(?:^|_)(\w)/g, (_, first: string) => first.toUpperCase())}Event`
      const properties = {
        ...Object.fromEntries(envelope.map(each => [each.name, fieldOf(each)])),
        type: { type: 'string', const: data.name },
        data: schemaOf(typeOf(data)),
      }
      components[name] = {
        type: 'object',
        properties,
        required: Object.keys(properties),
        additionalProperties: false,
        description: docOf(data),
      }
      return [data.name, name]
    })
  }

  function schemaOf(type: Type, written = ''): Schema {
    const symbol = type.getAliasSymbol() ?? type.getSymbol()
    const name = symbol && nameOf(symbol)
    if (!symbol || name === undefined) return unnamed(type, written)
    if (!(name in components)) {
      components[name] = {}
      const description = docOf(symbol).replace(/\.$/, '')
      components[name] = { ...(name === 'Json' ? JSON_VALUE : unnamed(type, '')), ...(description && { description }) }
    }
    return refTo(name)
  }

  /** `written` is the type's source text: the compiler's type loses string aliases and the order of unions. */
  function unnamed(type: Type, written: string): Schema {
    if (type.isUnionType()) return unionOf(type.getTypes(), written)
    if (type.isStringLiteralType()) return { type: 'string', const: type.value }
    if (type.isBooleanLiteralType()) return { type: 'boolean', const: type.value }
    if (type.flags & TypeFlags.String) return /\bInstant\b/.test(written) ? DATE_TIME : { type: 'string' }
    if (type.flags & TypeFlags.Number) return INTEGER
    if (type.flags & TypeFlags.Boolean) return { type: 'boolean' }
    if (type.flags & TypeFlags.Unknown) return {}
    if (checker.isArrayType(type) && type.isTypeReference()) {
      return { type: 'array', items: checker.getTypeArguments(type).map(item => schemaOf(item, written))[0] }
    }
    const fields = propertiesOf(type)
    const [index] = checker.getIndexInfosOfType(type)
    const others = index ? schemaOf(index.valueType, written) : false
    if (index && fields.length === 0) return { type: 'object', additionalProperties: others }
    const required = fields.filter(each => !isOptional(each)).map(each => each.name)
    return {
      type: 'object',
      properties: Object.fromEntries(fields.map(each => [each.name, fieldOf(each)])),
      ...(required.length > 0 && { required }),
      additionalProperties: others,
    }
  }

  function fieldOf(field: Symbol): Schema {
    const node = field.declarations[0]?.resolve()
    const written = node && isPropertySignatureDeclaration(node) ? node.type : undefined
    // The compiler drops the alias from an optional field's type.
    const alias = written && checker.getTypeFromTypeNode(written)?.getAliasSymbol()
    const text = `${written?.getText() ?? ''} ${alias?.declarations[0]?.resolve()?.getText() ?? ''}`
    const schema = alias?.name === 'Json' ? schemaOf(declared(events, 'Json')) : schemaOf(typeOf(field), text)
    const description =
      lowerCased(docOf(field) || (alias && nameOf(alias) === undefined ? docOf(alias) : '')) || COMMON[field.name]
    return {
      ...(schema === INTEGER && FRACTIONS.has(field.name) ? { type: 'number' } : schema),
      ...(description && { description }),
    }
  }

  function unionOf(types: readonly Type[], written: string): Schema {
    const known = types.filter(each => !(each.flags & (TypeFlags.Undefined | TypeFlags.Null)))
    const schema = alternatives(known, written)
    if (!types.some(each => each.flags & TypeFlags.Null)) return schema
    const isPlain = Object.keys(schema).join() === 'type' && typeof schema['type'] === 'string'
    return isPlain ? { type: [schema['type'], 'null'] } : { anyOf: [schema, { type: 'null' }] }
  }

  function alternatives(types: readonly Type[], written: string): Schema {
    const [only] = types
    if (types.length === 1 && only) return schemaOf(only, written)
    if (types.every(each => each.isBooleanLiteralType())) return { type: 'boolean' }
    const texts = types.flatMap(each => (each.isStringLiteralType() ? [each.value] : []))
    const place = (text: string): number => written.indexOf(`'${text}'`)
    if (texts.length === types.length) return { type: 'string', enum: texts.sort((a, b) => place(a) - place(b)) }
    // Known strings, or any other.
    if (texts.length > 0) return { type: 'string' }
    const schemas = types.map(each => schemaOf(each))
    return schemas.every(each => each['type'] === undefined || each['type'] === 'object')
      ? { type: 'object', oneOf: schemas }
      : { anyOf: schemas }
  }

  function membersOf(type: Type): readonly Type[] {
    return type.isUnionType() ? type.getTypes() : [type]
  }

  /** In source order: a type's own properties first, then those inherited from another file. */
  function propertiesOf(type: Type | undefined): readonly Symbol[] {
    const own = type?.getSymbol()?.declarations[0]?.path
    const place = ({ declarations: [at] }: Symbol): number => (at?.path === own ? 0 : 1e9) + (at?.index ?? 0)
    return type ? checker.getPropertiesOfType(type).toSorted((a, b) => place(a) - place(b)) : []
  }

  function typeOf(symbol: Symbol): Type {
    const type = checker.getTypeOfSymbol(symbol)
    if (!type) throw new TypeError(`${symbol.name} has no type`)
    return type
  }

  function declared(symbols: Symbols, name: string): Type {
    const symbol = symbols.get(name)
    if (!symbol) throw new TypeError(`there is no type ${name}`)
    return checker.getDeclaredTypeOfSymbol(symbol)
  }

  function docOf(symbol: Symbol): string {
    const [first = ''] = checker.getDocumentationCommentOfSymbol(symbol).split('\n\n')
    return first.replaceAll(/\s+/g, ' ').trim()
  }
}

const EVENT = 'A stored event. Ignore types that you do not know: newer servers may add some.'
const STREAMED = 'The `data` of a message. A stored event has its `seq` as the id; the others have no id.'

function eventUnion(events: readonly (readonly [type: string, name: string])[], description: string): Schema {
  const mapping = Object.fromEntries(events.map(([type, name]) => [type, refTo(name).$ref]))
  return {
    type: 'object',
    oneOf: events.map(([, name]) => refTo(name)),
    discriminator: { propertyName: 'type', mapping },
    description,
  }
}

const nameOf = ({ name }: Symbol): string | undefined => (Object.hasOwn(NAMES, name) ? NAMES[name] : undefined)

const refTo = (name: string) => ({ $ref: `#/components/schemas/${name}` })

const isOptional = (field: Symbol): boolean => (field.flags & SymbolFlags.Optional) !== 0

const lowerCased = (text: string): string =>
  text.replace(/\.$/, '').replace(/^[A-Z](?=[a-z ])/, first => first.toLowerCase())

writeFileSync(new URL('../src/server/http/shapes.json', import.meta.url), JSON.stringify(shapes()))
