/** A model that cannot be used as it is configured. */
export class UnknownModel extends Error {
  override readonly name = 'UnknownModel'
  /** Its name, where that is known. */
  readonly model: string | undefined

  constructor(message: string, model?: string) {
    super(message)
    this.model = model
  }
}

/** A model that is not reached any more where the turn began with it: the settings have changed. */
export class ModelChanged extends UnknownModel {}

/** A response that was not read to its end, because it would not fit into memory. */
export class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong'
  constructor(size: string) {
    super(`The model's provider sent too much: ${size}.`)
  }
}
