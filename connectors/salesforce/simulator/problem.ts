/** An error in Salesforce's form: `[{ errorCode, message, fields }]`. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: number;
  readonly errorCode: string;
  readonly fields: readonly string[];

  constructor(status: number, errorCode: string, message: string, fields: readonly string[] = []) {
    super(message);
    this.status = status;
    this.errorCode = errorCode;
    this.fields = fields;
  }

  toJSON() {
    return [
      { message: this.message, errorCode: this.errorCode, ...(this.fields.length > 0 && { fields: this.fields }) },
    ];
  }
}
