import * as z from 'zod'
import shapes from './shapes.json' with { type: 'json' }

/** A JSON Schema of OpenAPI 3.1. */
export interface Shape {
  readonly [keyword: string]: unknown
}

/** What the OpenAPI document names. `scripts/shapes.ts` makes it, and the other answers, from the types of the domain. */
export const COMPONENTS: Readonly<Record<keyof typeof shapes.components, Shape>> = shapes.components
const ANSWERS: Readonly<Record<keyof typeof shapes.answers, Shape>> = shapes.answers

/** The schema of a type that HTTP answers. */
export const shape = (name: keyof typeof COMPONENTS | keyof typeof ANSWERS): Shape =>
  isAnswer(name) ? ANSWERS[name] : { $ref: `#/components/schemas/${name}` }

const isAnswer = (name: string): name is keyof typeof ANSWERS => Object.hasOwn(ANSWERS, name)

/** The schema of a stored event; undefined if there is no such type. */
export const eventShape = (type: string): Shape | undefined => {
  const { mapping } = shapes.components.Event.discriminator
  const known: Readonly<Record<string, string>> = mapping
  return Object.hasOwn(known, type) ? { $ref: known[type] } : undefined
}

/** Parses what has that shape. Fields that it does not name are refused, or with `isOpen` left as they are. */
export function parserOf(of: Shape, isOpen = false): z.ZodType {
  const text = JSON.stringify({ ...of, $defs: COMPONENTS }).replaceAll('#/components/schemas/', '#/$defs/')
  const drop = (key: string, value: unknown): unknown =>
    isOpen && key === 'additionalProperties' && value === false ? undefined : value
  return z.fromJSONSchema(JSON.parse(text, drop) as z.core.JSONSchema.JSONSchema)
}
