{-# LANGUAGE OverloadedStrings #-}
-- | Module docs.
module Data.Sample.Types
  ( Value (..)
  , decode
  ) where

import qualified Data.Map as M

-- | A value.
--
-- More.
data Value
  = Null
  | Number !Int
  deriving (Eq, Show)

newtype Parser a = Parser
  { runParser :: String -> Maybe a
  }

type Object = M.Map String Value

class Monoid a => Encode a where
  encode :: a -> String
  encode _ = ""

instance Encode Value where
  encode Null = "null"
  encode (Number n) = show n

-- | Decodes text.
decode :: String -> Maybe Value
decode "" = Nothing
decode s = go s
  where
    go x = Just Null

limit :: Int
limit = 10

(<+>) :: Int -> Int -> Int
a <+> b = a + b

type family Elem c

pattern P :: Int -> Value
pattern P n = Number n
