import { expect, test } from 'vitest'
import { joinSql, sqlText, sqlWords } from './sql-text.ts'

test('parts become one statement, with the values in their order', () => {
  const where = joinSql([sqlText`a = ${1}`, sqlText`b = any(array[${'x'}])`, sqlText`c is null`], ' and ')
  expect(sqlText`select ${sqlWords('id')} from t where ${where} limit ${5}`).toEqual({
    strings: ['select id from t where a = ', ' and b = any(array[', ']) and c is null limit ', ''],
    values: [1, 'x', 5],
  })
})

test('joining no parts gives an empty part, and a value that is no part stays a parameter, whatever it holds', () => {
  expect(joinSql([], ' and ')).toEqual({ strings: [''], values: [] })
  expect(sqlText`a = ${"'; drop table t"} and b = ${null}`.strings).toEqual(['a = ', ' and b = ', ''])
})
