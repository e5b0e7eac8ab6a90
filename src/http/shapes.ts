import * as z from 'zod'
import shapes from './shapes.json' with { type: 'json' }

export interface Shape {
  readonly [keyword: string]: unknown
}

/** Generated from the domain types by `scripts/shapes.ts`. */
export const COMPONENTS: Readonly<Record<keyof typeof shapes.components, Shape>> = shapes.components
const ANSWERS: Readonly<Record<keyof typeof shapes.answers, Shape>> = shapes.answers

export const shape = (name: keyof typeof COMPONENTS | keyof typeof ANSWERS): Shape =>
  isAnswer(name) ? ANSWERS[name] : { $ref: `#/components/schemas/${name}` }

const isAnswer = (name: string): name is keyof typeof ANSWERS => Object.hasOwn(ANSWERS, name)

export const eventShape = (type: string): Shape | undefined => {
  const { mapping } = shapes.components.Event.discriminator
  const known: Readonly<Record<string, string>> = mapping
  return Object.hasOwn(known, type) ? { $ref: known[type] } : undefined
}

/** Builds a parser for a shape. Unknown fields are refused, or kept if `isOpen`. */
export function parserOf(of: Shape, isOpen = false): z.ZodType {
  const text = JSON.stringify({ ...of, $defs: COMPONENTS }).replaceAll('#/components/schemas/', '#/$defs/')
  const drop = (key: string, value: unknown): unknown =>
    isOpen && key === 'additionalProperties' && value === false ? undefined : value
  return z.fromJSONSchema(JSON.parse(text, drop) as z.core.JSONSchema.JSONSchema)
}
