/** A model that cannot be used as it is configured. */
export class UnknownModel extends Error {
  override readonly name = 'UnknownModel'
}

/** A response that was not read to its end, because it would not fit into memory. */
export class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong'
  constructor(size: string) {
    super(`The model's provider sent too much: ${size}.`)
  }
}
