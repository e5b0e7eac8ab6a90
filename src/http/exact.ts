import type * as z from 'zod'
import type { Json } from '../domain/event.ts'

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
