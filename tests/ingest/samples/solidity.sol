// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;

uint constant LIMIT = 10;

error Unauthorized(address who);

interface IToken {
    function transfer(address to, uint amount) external returns (bool);
}

library Math {
    function max(uint a, uint b) internal pure returns (uint) {
        return a > b ? a : b;
    }
}

/// @title A token.
contract Token is IToken {
    uint public constant SUPPLY = 100;
    mapping(address => uint) public balances;

    struct Holder {
        address who;
    }

    enum State { Open, Closed }

    event Transfer(address indexed from, address to);

    modifier onlyOwner() {
        _;
    }

    constructor(address owner) {
        uint local = 1;
    }

    /// Moves tokens.
    function transfer(address to, uint amount) external override returns (bool) {
        return true;
    }

    receive() external payable {}
}

function free(uint a) pure returns (uint) {
    return a;
}
