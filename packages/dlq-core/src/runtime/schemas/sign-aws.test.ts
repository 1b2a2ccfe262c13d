import { expect, test } from 'vitest'
import { signAws } from './sign-aws.ts'

/** The example of AWS's documentation, with its signature. */
test('a request is signed as AWS signs its example', () => {
  const credentials = {
    accessKeyId: 'AKIDEXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
    sessionToken: null,
  }
  const signed = signAws(credentials, {
    ...{ method: 'GET', body: '', region: 'us-east-1', service: 'iam' },
    url: new URL('https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08'),
    headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
    now: new Date('2015-08-30T12:36:00Z'),
  })
  expect(signed.authorization).toBe(
    'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7',
  )
})
