import type * as z from 'zod'
import type { Json } from '../domain/event.ts'

/**
 * Ties a schema to a type: a field, optional mark or value that only one of them has is a compile error.
 * The type is the definition; its schema adds what only the document needs.
 */
export const exact =
  <T>() =>
  <S extends z.ZodType<T>>(schema: S, ..._differs: Difference<T, z.output<S>>): S =>
    schema

/** Empty if the types are the same; otherwise a missing argument, so that the compiler shows both. */
type Difference<T, U> = Same<Plain<T>, Plain<U>> extends true ? [] : [expected: Plain<T>, got: Plain<U>]

/** Identity, not assignability, which would overlook an optional field that only one of them has. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the compiler compares two such functions by identity
type Same<T, U> = (<X>() => X extends T ? 1 : 2) extends <X>() => X extends U ? 1 : 2 ? true : false

/** A type as JSON: ignores `readonly`, and whether it is an interface. */
type Plain<T> = Json extends T
  ? T
  : T extends string
    ? string extends T
      ? string
      : T
    : T extends object
      ? { readonly [K in keyof T]: Plain<T[K]> }
      : T
