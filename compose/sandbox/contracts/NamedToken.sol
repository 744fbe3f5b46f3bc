// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {BareToken} from "./BareToken.sol";

/// @title An ERC-20 whose name, symbol and decimals are in its storage: one code for every token of the scenes, copycats too.
contract NamedToken is BareToken {
    string public name;
    string public symbol;
    uint8 public decimals;
}
