import * as z from 'zod'
import type { Json } from '../../core/model/event.ts'
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

/**
 * Ties a schema to a type: any difference in fields, optional marks or values is a compile error. The type is the
 * definition; its schema adds only what the document needs.
 */
export const exact =
  <T>() =>
  <S extends z.ZodType<T>>(schema: S, ..._differs: Difference<T, z.output<S>>): S =>
    schema

/** Empty if the types are equal; otherwise requires an argument, so that the compiler error shows both types. */
type Difference<T, U> = Same<Plain<T>, Plain<U>> extends true ? [] : [expected: Plain<T>, got: Plain<U>]

/** Compares identity; assignability would miss an optional field that only one type has. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the compiler compares two such functions by identity
type Same<T, U> = (<X>() => X extends T ? 1 : 2) extends <X>() => X extends U ? 1 : 2 ? true : false

/** Normalizes a type to plain JSON: ignores `readonly` and interface versus type alias. */
type Plain<T> = Json extends T
  ? T
  : T extends string
    ? string extends T
      ? string
      : T
    : T extends object
      ? { readonly [K in keyof T]: Plain<T[K]> }
      : T
