import type * as z from 'zod'
import type { Json } from '../domain/event.ts'

/**
 * Holds a schema to a type: a field, an optional mark or a value that only one of them has does not compile.
 * The type is the definition; its schema adds what only a document needs.
 */
export const exact =
  <T>() =>
  <S extends z.ZodType<T>>(schema: S, ..._differs: Difference<T, z.output<S>>): S =>
    schema

/** Empty if both types say the same; otherwise an argument that no call passes, which shows the two. */
export type Difference<T, U> = Same<Plain<T>, Plain<U>> extends true ? [] : [expected: Plain<T>, got: Plain<U>]

/** Identity, not assignability: the latter would overlook an optional field that one of them lacks. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters
type Same<T, U> = (<X>() => X extends T ? 1 : 2) extends <X>() => X extends U ? 1 : 2 ? true : false

/** A type as JSON has it: `readonly`, and whether it is an interface, make no difference. */
type Plain<T> = Json extends T
  ? T
  : T extends string
    ? string extends T
      ? string
      : T
    : T extends object
      ? { readonly [K in keyof T]: Plain<T[K]> }
      : T
