import type * as z from 'zod'

/** A schema with its description in the document. */
export const described = <S extends z.ZodType>(schema: S, description: string): S => schema.meta({ description })
