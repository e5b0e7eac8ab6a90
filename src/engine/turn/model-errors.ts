export class UnknownModel extends Error {
  override readonly name = 'UnknownModel'
  readonly model: string | undefined

  constructor(message: string, model?: string) {
    super(message)
    this.model = model
  }
}

/** A model that is no longer reached where the turn began, because the settings changed. */
export class ModelChanged extends UnknownModel {}

/** A response that was cut off, because it would not fit into memory. */
export class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong'
  constructor(size: string) {
    super(`The model's provider sent too much: ${size}.`)
  }
}
